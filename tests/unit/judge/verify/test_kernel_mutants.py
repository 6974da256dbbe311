"""Mutants of kernels are tried on inputs that the pack's reference takes."""

from __future__ import annotations

import pytest

from judge.packs.data.inputs import make_inputs
from judge.packs.judging import make_checker
from judge.packs.pack import Pack
from judge.verify.kernel_mutants import further_cases


@pytest.mark.parametrize("slug", ["histogram", "paged-attention"])
def test_an_axis_that_values_depend_on_keeps_the_size_of_its_case(packs: dict[str, Pack], slug: str) -> None:
    pack = packs[slug]
    fixed = [axis.name for axis in pack.axes if axis.fixed]
    assert fixed
    known = {case.id: case for case in pack.cases}

    found = further_cases(pack, pack.cases_for("emulator"))

    assert any(case.axes != known[case.id].axes for case, _ in found)
    for case, seed in found:
        assert [case.axes[name] for name in fixed] == [known[case.id].axes[name] for name in fixed]
        make_checker(pack, case, make_inputs(pack, case, seed))
