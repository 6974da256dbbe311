from pathlib import Path

import pytest

from judge.compile.narrowing import narrowed_includes

_THERE = (
    "device/device_reduce.cuh",
    "block/block_reduce.cuh",
    "warp/warp_scan.cuh",
    "thread/thread_operators.cuh",
    "iterator/cache_modified_input_iterator.cuh",
    "util_type.cuh",
)


@pytest.fixture(params=["include/cccl", "include"])
def toolkit(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    for header in _THERE:
        path = tmp_path / request.param / "cub" / header
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


@pytest.mark.parametrize(
    ("code", "headers"),
    [
        ("cub::DeviceReduce::Sum(t, b, x, y, n);", ("cub/device/device_reduce.cuh",)),
        (
            "using R = cub::BlockReduce<float, 256, cub::BLOCK_REDUCE_RAKING>; ::cub::WarpScan<int> w;",
            ("cub/block/block_reduce.cuh", "cub/warp/warp_scan.cuh"),
        ),
        ("cub::Sum(); cub::KeyValuePair<int, float> p;", ("cub/thread/thread_operators.cuh", "cub/util_type.cuh")),
        ("cub::CacheModifiedInputIterator<A, B> i;", ("cub/iterator/cache_modified_input_iterator.cuh",)),
        ('// cub in a comment, "cub"\ncub :: DeviceReduce :: Max();', ("cub/device/device_reduce.cuh",)),
    ],
)
def test_the_headers_of_the_names_that_are_used(toolkit: Path, code: str, headers: tuple[str, ...]) -> None:
    assert narrowed_includes(f"#include <cub/cub.cuh>\n{code}\n".encode(), toolkit) == headers


@pytest.mark.parametrize(
    "source",
    [
        "int x;",
        "#include <cub/device/device_reduce.cuh>\ncub::DeviceReduce::Sum();",
        "#include <cub/cub.cuh>\n",
        "#include <cub/cub.cuh>\ncub::DeviceReduce::Sum(); cub::SomethingElse s;",
        "#include <cub/cub.cuh>\nusing namespace cub; cub::DeviceReduce::Sum();",
        "#include <cub/cub.cuh>\nnamespace c = cub; cub::DeviceReduce::Sum();",
        "#include <cub/cub.cuh>\nCUB_STATIC_ASSERT(1); cub::DeviceReduce::Sum();",
        "// #include <cub/cub.cuh>\ncub::DeviceReduce::Sum();",
    ],
)
def test_the_wide_header_stays_where_it_may_be_needed(toolkit: Path, source: str) -> None:
    assert narrowed_includes(source.encode(), toolkit) == ()
