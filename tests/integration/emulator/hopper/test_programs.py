"""Programs for Hopper, built by nvcc for sm_90a: right ones pass without findings, wrong ones are explained."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.builds import build_with_nvcc
from tests.emulated_programs import Run, emulate

pytestmark = [
    pytest.mark.nvcc,
    pytest.mark.exhaustive(by_file=True),
    pytest.mark.recorded("tests/integration/emulator/hopper", "tests/emulated_programs.py", "tests/builds.py"),
]

PROGRAMS = Path(__file__).parent / "programs"
FLAGS = ("-std=c++17", "-g", "-lineinfo")
RIGHT = (
    *("async_stores", "attention", "cluster_reduction", "cluster_ring", "copy_pipeline", "vector_atomics"),
    *("wgmma_gemm", "wgmma_ring"),
)
_PTX = ("-cudart", "shared", "-gencode", "arch=compute_90a,code=compute_90a")


def _line_of(name: str, text: str) -> int:
    lines = (PROGRAMS / f"{name}.cu").read_text().splitlines()
    (number,) = (number for number, line in enumerate(lines, 1) if text in line)
    return number


def _examine(folder: Path, name: str, *defined: str, check: str = "full", options: tuple[str, ...] = ()) -> Run:
    program = build_with_nvcc(PROGRAMS / f"{name}.cu", *FLAGS, *_PTX, *(f"-D{word}" for word in defined), suffix="")
    file = folder / "report.json"
    run = emulate("--format=json", "--output", file, f"--check={check}", "--gpu", "h200", *options, program)
    return Run(run.exit_code, run.stdout, run.stderr, json.loads(file.read_text()))


def _messages(run: Run) -> list[str]:
    return [problem["message"] for process in run.report["processes"] for problem in process["problems"]]


@pytest.mark.parametrize("check", ["default", "full"])
@pytest.mark.parametrize("name", RIGHT)
def test_right_programs(tmp_path: Path, name: str, check: str) -> None:
    run = _examine(tmp_path, name, check=check)

    assert (run.exit_code, run.stdout, run.kinds) == (0, "PASS\n", [])


@pytest.mark.parametrize("seed", [None, 1, 2])
@pytest.mark.parametrize("way", ["BY_MBARRIER", "BY_FLAG"])
def test_blocks_of_a_cluster_take_turns(tmp_path: Path, way: str, seed: int | None) -> None:
    run = _examine(tmp_path, "cluster_ring", way, options=() if seed is None else ("--schedule", str(seed)))

    assert (run.exit_code, run.stdout, run.kinds) == (0, "PASS\n", [])


@pytest.mark.parametrize("missing", [("NOT_FILLED",), ("NOT_EMPTIED",), ("BY_MBARRIER", "NOT_TOLD")])
def test_blocks_of_a_cluster_race(tmp_path: Path, missing: tuple[str, ...]) -> None:
    run = _examine(tmp_path, "cluster_ring", *missing)

    write, read = _line_of("cluster_ring", "// to the next block"), _line_of("cluster_ring", "// from the last block")
    (message,) = {text for text in _messages(run) if text.startswith("race on shared memory")}
    assert {f"cluster_ring.cu:{line}" in message for line in (write, read)} == {True}
    assert "of slot (256 bytes of shared memory)" in message
    assert "nothing orders the two, as cluster.sync() would" in message


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_a_block_that_ends_while_others_read_its_memory(tmp_path: Path, seed: int | None) -> None:
    options = () if seed is None else ("--schedule", str(seed))
    run = _examine(tmp_path, "cluster_reduction", "LEAVES_TOO_EARLY", options=options)

    line = _line_of("cluster_reduction", "// from each block")
    read = f"race on shared memory at {PROGRAMS}/cluster_reduction.cu:{line} in row_sums"
    (message,) = (text for text in _messages(run) if text.startswith(read))
    assert re.search(r"of block \(\d+,0,0\), which may have ended", message)
    assert "as cluster.sync() before its end would" in message


def test_a_stage_that_is_read_before_its_copy_is_there(tmp_path: Path) -> None:
    run = _examine(tmp_path, "copy_pipeline", "NO_FULL_WAIT")

    line = _line_of("copy_pipeline", "factor * tile[s][i]")
    read = f"race on shared memory at {PROGRAMS}/copy_pipeline.cu:{line} in scale"
    (message,) = (text for text in _messages(run) if text.startswith(read))
    copy = _line_of("copy_pipeline", '"l"(&from)')
    assert (
        f"copies asynchronously at {PROGRAMS}/copy_pipeline.cu:{copy}, and the copy has not been waited for" in message
    )


def test_a_stage_that_is_overwritten_while_it_is_read(tmp_path: Path) -> None:
    run = _examine(tmp_path, "copy_pipeline", "NO_EMPTY_WAIT")

    line = _line_of("copy_pipeline", "factor * tile[s][i]")
    read = f"reads at {PROGRAMS}/copy_pipeline.cu:{line}, and there is no barrier"
    assert any(read in text for text in _messages(run))


@pytest.mark.parametrize(
    ("name", "defined", "write", "read"),
    [
        ("copy_pipeline", (), "factor * tile[s][i]", '"r"(address_of(result))'),
        ("wgmma_gemm", ("TOUCHES",), "*word = *word", None),
    ],
)
def test_what_threads_wrote_is_read_asynchronously_without_a_fence(
    tmp_path: Path, name: str, defined: tuple[str, ...], write: str, read: str | None
) -> None:
    right = _examine(tmp_path, name, *defined)
    assert (right.exit_code, right.stdout, right.kinds) == (0, "PASS\n", [])

    wrong = _examine(tmp_path, name, *defined, "NO_PROXY_FENCE")
    (message,) = _messages(wrong)
    assert message.startswith("race on shared memory")
    assert f"writes at {PROGRAMS}/{name}.cu:{_line_of(name, write)}, and no fence.proxy.async stands between" in message
    if read:
        assert f"at {PROGRAMS}/{name}.cu:{_line_of(name, read)} in " in message


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_numbers_that_a_block_sends_itself(tmp_path: Path, seed: int | None) -> None:
    run = _examine(tmp_path, "async_stores", "ITSELF", options=() if seed is None else ("--schedule", str(seed)))

    assert (run.exit_code, run.stdout, run.kinds) == (0, "PASS\n", [])


def test_numbers_that_are_read_before_they_are_there(tmp_path: Path) -> None:
    run = _examine(tmp_path, "async_stores", "ITSELF", "NO_WAIT")

    assert run.stdout == "FAIL\n"
    sent, read = _line_of("async_stores", '"r"(value + 3)'), _line_of("async_stores", "// reads")
    race = f"race on shared memory at {PROGRAMS}/async_stores.cu:{read} in exchange"
    (message,) = (text for text in _messages(run) if text.startswith(race))
    assert f"async_stores.cu:{sent}, and the copy has not been waited for" in message


def test_numbers_of_which_too_few_come(tmp_path: Path) -> None:
    run = _examine(tmp_path, "async_stores", "TOO_FEW_BYTES", check="default")

    assert "its phase still waits for 8 bytes of asynchronous copies" in run.problems["deadlock"]["message"]
    assert "cudaErrorLaunchTimeout" in run.stdout


@pytest.mark.parametrize("mistake", ["NOT_ATOMIC", "READ_EARLY"])
def test_what_races_with_vector_atomics(tmp_path: Path, mistake: str) -> None:
    run = _examine(tmp_path, "vector_atomics", mistake)

    text = {"NOT_ATOMIC": "// not atomic", "READ_EARLY": "// nothing orders it"}[mistake]
    line = _line_of("vector_atomics", text)
    messages = [text for text in _messages(run) if text.startswith("race on global memory")]
    assert messages
    assert all(f"vector_atomics.cu:{line}" in text for text in messages)


def test_bytes_that_never_come(tmp_path: Path) -> None:
    run = _examine(tmp_path, "copy_pipeline", "TOO_FEW_BYTES", check="default")

    message = run.problems["deadlock"]["message"]
    assert "it waits for ever for an mbarrier: its phase still waits for 16 bytes of asynchronous copies" in message
    assert "cudaErrorLaunchTimeout" in run.stdout


@pytest.mark.parametrize("way", ["", "CLOCK", "ANOTHER_BLOCK", "LATE", "LANES", "NESTED"])
def test_waits_that_end(tmp_path: Path, way: str) -> None:
    run = _examine(tmp_path, "giving_up", *([way] if way else []), check="default")

    assert (run.exit_code, run.stdout, run.kinds) == (0, "PASS\n", [])


def test_a_wait_that_cannot_end(tmp_path: Path) -> None:
    run = _examine(tmp_path, "giving_up", "ENDLESS", check="default")

    message = run.problems["deadlock"]["message"]
    assert "it waits for ever for an mbarrier: its phase still waits for 1 arrival" in message
    assert "63 threads, first (1,0,0), wait at" in message


def test_a_wait_of_which_only_a_limit_knows(tmp_path: Path) -> None:
    limit = ("--instruction-limit", "10000000")
    run = _examine(tmp_path, "giving_up", "COUNTS_FOR_EVER", check="default", options=limit)

    message = run.problems["endless loop"]["message"]
    assert "stopped after 10000000 warp instructions, still in this loop, which may be endless or only slow" in message
    line = _line_of("giving_up", "mbarrier.try_wait")
    assert f"Threads wait at line {line} for an mbarrier: its phase still waits for 1 arrival" in message


def test_sums_that_are_used_before_the_product_is_there(tmp_path: Path) -> None:
    run = _examine(tmp_path, "wgmma_gemm", "NO_PRODUCT_WAIT", check="default")

    message = run.problems["wgmma not waited for"]["message"]
    assert f"wgmma_gemm.cu:{_line_of('wgmma_gemm', '= d[i];')} in gemm" in message
    assert "which is still in flight: wgmma.commit_group and wgmma.wait_group come first" in message


@pytest.mark.parametrize("seed", range(1, 5))
@pytest.mark.parametrize("check", ["default", "full"])
def test_stages_that_one_thread_frees_for_its_warpgroup(tmp_path: Path, check: str, seed: int) -> None:
    run = _examine(tmp_path, "wgmma_ring", check=check, options=("--schedule", str(seed)))

    assert (run.exit_code, run.stdout, run.kinds) == (0, "PASS\n", [])


def test_a_stage_that_is_freed_before_its_product_is_there(tmp_path: Path) -> None:
    run = _examine(tmp_path, "wgmma_ring", "EARLY_RELEASE")

    line = _line_of("wgmma_ring", '"l"(a), "l"(b));')
    assert any(text.startswith("race on shared memory") and f"wgmma_ring.cu:{line}" in text for text in _messages(run))


@pytest.mark.parametrize("seed", [1, 2])
def test_warpgroups_that_take_turns(tmp_path: Path, seed: int) -> None:
    run = _examine(tmp_path, "attention", options=("--schedule", str(seed)))

    assert (run.exit_code, run.stdout, run.kinds) == (0, "PASS\n", [])


def test_keys_that_are_freed_before_their_product_is_there(tmp_path: Path) -> None:
    run = _examine(tmp_path, "attention", "EARLY_FREE")

    copy, product = _line_of("attention", '"l"(map), "r"(0)'), _line_of("attention", '"l"(queries)')
    race = f"race on shared memory at {PROGRAMS}/attention.cu:{copy} in attend"
    read = f"reads at {PROGRAMS}/attention.cu:{product}, and there is no barrier"
    assert any(text.startswith(race) and read in text for text in _messages(run))


def test_a_warp_that_takes_no_part_in_a_product(tmp_path: Path) -> None:
    run = _examine(tmp_path, "wgmma_ring", "WARP_SKIPS", check="default")

    message = run.problems["deadlock"]["message"]
    assert "it waits for ever for a wgmma that not all warps of its warpgroup execute: 96 threads" in message
    assert "cudaErrorLaunchTimeout" in run.stdout


@pytest.mark.parametrize(
    "way", [(), ("BY_STORES",), ("IN_SHARED",), ("BY_HOST",)], ids=["", "stores", "shared", "host"]
)
def test_maps_that_change_behind_fences(tmp_path: Path, way: tuple[str, ...]) -> None:
    run = _examine(tmp_path, "changed_maps", *way)

    assert (run.exit_code, run.stdout, run.kinds) == (0, "PASS\n", [])


_NO_ACQUIRE, _NO_RELEASE = "no fence.proxy.tensormap::generic.acquire", "no fence.proxy.tensormap::generic.release"


@pytest.mark.parametrize(
    ("defined", "write", "missing"),
    [
        (("NO_ACQUIRE",), "// replaces", _NO_ACQUIRE),
        (("NO_RELEASE",), "// replaces", _NO_RELEASE),
        (("NO_ACQUIRE", "NO_RELEASE"), "// replaces", "neither fence.proxy.tensormap::generic.release"),
        (("ACQUIRED_ONCE",), "// replaces", _NO_ACQUIRE),
        (("BY_STORES", "NO_ACQUIRE"), "// stores", _NO_ACQUIRE),
        (("BY_STORES", "NO_RELEASE"), "// stores", _NO_RELEASE),
        (("IN_SHARED", "NO_ACQUIRE"), "// copies the map", _NO_ACQUIRE),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else "",
)
def test_maps_that_change_without_a_fence(tmp_path: Path, defined: tuple[str, ...], write: str, missing: str) -> None:
    run = _examine(tmp_path, "changed_maps", *defined)

    changed, copied = _line_of("changed_maps", write), _line_of("changed_maps", "// copies a tile")
    (message,) = _messages(run)
    assert message.startswith(f"race on global memory at {PROGRAMS}/changed_maps.cu:{copied} in copy")
    assert f"writes at {PROGRAMS}/changed_maps.cu:{changed}, and {missing}" in message
