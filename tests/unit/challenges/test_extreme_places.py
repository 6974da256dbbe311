"""Where an answer is one place: the cases put it into every part of the array that a kernel may leave out."""

from __future__ import annotations

import numpy as np
import pytest

from judge.packs.data.inputs import make_inputs
from judge.packs.pack import Pack


@pytest.mark.parametrize(("slug", "argument"), [("argmax", "input"), ("nucleus-sample", "logits")])
@pytest.mark.parametrize("seed", [1, 77])
def test_each_part_has_the_largest_once(packs: dict[str, Pack], slug: str, argument: str, seed: int) -> None:
    pack = packs[slug]
    cases = [case for case in pack.cases if case.parameters.get("part", -1) >= 0]
    arrays = [np.asarray(make_inputs(pack, case, seed)[argument]) for case in cases]
    places = [int(np.argmax(array)) for array in arrays]
    sixteenths = {place * 16 // array.size for place, array in zip(places, arrays, strict=True)}
    digits = [{place // unit % 16 for place in places} for unit in (1, 16, 256)]
    assert [sixteenths, *digits] == [set(range(16))] * 4
