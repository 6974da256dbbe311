from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import pytest

from judge.packs.collection.loader import load_pack
from judge.packs.errors import PackError
from judge.packs.pack import Case
from judge.supervisor.first_wrong import first_wrong, first_wrong_size
from tests.builds import ROOT


@pytest.mark.parametrize("fewest", [0, 1])
@pytest.mark.parametrize("most", [2, 7, 100])
def test_the_first_wrong_round_is_found(fewest: int, most: int) -> None:
    for first in range(fewest, most + 1):
        tried: list[int] = []

        def is_right(rounds: int, first: int = first, tried: list[int] = tried) -> bool:
            tried.append(rounds)
            return rounds < first

        assert first_wrong(fewest, most, is_right) == first
        assert tried[0] == fewest
        assert len(tried) <= 9
        assert all(fewest <= rounds < most for rounds in tried)


def test_a_run_that_tells_nothing_ends_the_search() -> None:
    assert first_wrong(0, 10, lambda rounds: None if rounds else True) is None


MATMUL = load_pack(ROOT / "challenges" / "matmul")
WRONG = MATMUL.cases[0].with_variable("M", 31).with_variable("N", 2).with_variable("K", 37)


@pytest.mark.parametrize(
    ("is_right", "told"),
    [
        (lambda axes: axes["K"] <= 32, "it is right with K = 32 and wrong with 33 (where M = 31, N = 2)"),
        (lambda axes: axes["M"] <= 16, "it is right with M = 16 and wrong with 17 (where N = 2, K = 1)"),
        (
            lambda axes: axes["K"] <= 32 or axes["M"] <= 16,
            "it is right with M = 16 and wrong with 17 (where N = 2, K = 33)",
        ),
        (lambda axes: axes["N"] < 2, "it is right with N = 1 and wrong with 2 (where M = 1, K = 1)"),
        (lambda _: False, ""),
        (lambda _: None, ""),
    ],
)
def test_the_first_wrong_size_is_told(is_right: Callable[[Mapping[str, int]], bool | None], told: str) -> None:
    assert first_wrong_size(MATMUL, WRONG, lambda case: is_right(case.axes)) == told


def test_sizes_that_cannot_be_made_end_the_search() -> None:
    def is_right(case: Case) -> bool:
        if case.axes["K"] < 37:
            raise PackError(MATMUL.directory, "make_inputs", "needs more")
        return case.axes["M"] <= 16

    assert (
        first_wrong_size(MATMUL, WRONG, is_right) == "it is right with M = 16 and wrong with 17 (where N = 2, K = 37)"
    )


def test_inputs_that_were_typed_have_one_size() -> None:
    typed = dataclasses.replace(WRONG, typed={"A": (1.0,) * 62})
    assert first_wrong_size(MATMUL, typed, lambda _: pytest.fail("not tried")) == ""


def test_sizes_are_not_tried_for_long() -> None:
    times = iter(range(100))
    assert first_wrong_size(MATMUL, WRONG, lambda case: case.axes["K"] <= 32, clock=lambda: next(times)) == ""


def test_sizes_keep_to_the_axis() -> None:
    pack = load_pack(ROOT / "challenges" / "rope")
    axis = next(axis for axis in pack.axes if axis.multiple_of > 1)
    case = max(pack.cases, key=lambda each: each.axes[axis.name])
    tried: list[int] = []

    def is_right(smaller: Case) -> bool:
        tried.append(smaller.axes[axis.name])
        return smaller.axes[axis.name] < case.axes[axis.name]

    assert f"wrong with {case.axes[axis.name]}" in first_wrong_size(pack, case, is_right)
    assert all(size % axis.multiple_of == 0 for size in tried)
