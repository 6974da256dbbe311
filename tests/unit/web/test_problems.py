from __future__ import annotations

import pytest

from web.problems import unknown

KNOWN = ("attention", "gemm", "int8-matmul", "reduction", "softmax", "vector-add")


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("softmx", "softmax"), ("Vector-Ad", "vector-add"), ("matmul", "int8-matmul"), ("red", "reduction")],
)
def test_the_nearest_name_is_told(name: str, nearest: str) -> None:
    problem = unknown("challenge", name, KNOWN)
    assert problem.status == 404
    assert nearest in problem.nearest


@pytest.mark.parametrize("name", ["", "zzz", "\x00", "x" * 10000])
def test_no_name_is_near_to_nonsense(name: str) -> None:
    problem = unknown("challenge", name, KNOWN)
    assert problem.nearest == ()
    assert "There are: attention, gemm, int8-matmul" in problem.message
    assert len(problem.message) < 200


def test_a_single_device_is_named_where_nothing_is_near() -> None:
    assert (
        unknown("device", "cuda:0", ["emulator"]).message == "There is no device called “cuda:0”. There is: emulator."
    )
    assert unknown("device", "cuda:0", []).message == "There is no device called “cuda:0”."
