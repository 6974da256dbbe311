from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from judge.bench.timing.call_form import call_form
from judge.packs.collection.loader import load_pack
from judge.packs.pack import Pack

CHALLENGES = Path(__file__).resolve().parents[5] / "challenges"


@pytest.fixture(scope="module")
def pack() -> Pack:
    return load_pack(CHALLENGES / "vector-add")


def test_names_are_no_part_of_it(pack: Pack) -> None:
    [case, *_] = pack.benchmarks
    renamed = dataclasses.replace(
        pack,
        slug="sum",
        digest="d" * 64,
        arguments=tuple(dataclasses.replace(each, name=f"{each.name}_") for each in pack.arguments),
    )
    assert call_form(renamed, dataclasses.replace(case, id="b")) == call_form(pack, case)


@pytest.mark.parametrize("change", ["size", "argument", "how an input is made", "language"])
def test_what_decides_the_time_of_an_empty_call_is_part_of_it(pack: Pack, change: str) -> None:
    [case, *_] = pack.benchmarks
    other, other_case = pack, case
    if change == "size":
        [axis, *_] = case.axes
        other_case = dataclasses.replace(case, axes={axis: case.axes[axis] // 2})
    elif change == "argument":
        other = dataclasses.replace(pack, arguments=pack.arguments[1:])
    elif change == "language":
        other = pack.in_language("triton")
    else:
        first = pack.arguments[0]
        other = dataclasses.replace(
            pack, arguments=(dataclasses.replace(first, distribution=None), *pack.arguments[1:])
        )
    assert call_form(other, other_case) != call_form(pack, case)
