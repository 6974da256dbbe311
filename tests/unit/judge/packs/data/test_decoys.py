from __future__ import annotations

import dataclasses

from judge.packs.data.decoys import decoy
from judge.packs.form.expressions import parse_constraint
from judge.packs.pack import Axis
from tests.host_device.judging import twice_pack

PACK = twice_pack()
CASE = PACK.benchmarks[0]
SIZE = CASE.axes["N"]


def test_a_decoy_is_at_most_a_quarter_smaller_and_keeps_the_step() -> None:
    pack = dataclasses.replace(PACK, axes=(Axis("N", 1, SIZE, 16, ""),))
    sizes: list[range] = []
    decoy(pack, CASE, lambda found: sizes.append(found) or found[0])  # type: ignore[func-returns-value]
    assert sizes[0][0] >= SIZE * 0.75 > sizes[0][0] - 16
    assert sizes[0][-1] <= SIZE
    assert sizes[0].step == 16


def test_a_fixed_size_stays() -> None:
    pack = dataclasses.replace(PACK, axes=(Axis("N", 1, SIZE, 1, "", fixed=True),))
    assert decoy(pack, CASE, min).axes == CASE.axes


def test_a_constraint_that_no_smaller_size_keeps_leaves_the_case() -> None:
    constraint = parse_constraint(f"N == {SIZE}")
    pack = dataclasses.replace(PACK, axes=(Axis("N", 1, SIZE, 1, ""),), constraints=(constraint,))
    assert decoy(pack, CASE, min) is CASE
