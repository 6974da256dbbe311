"""The plainest honest kernel adds every term to one float accumulator by an atomic: that is no wrong answer.

Held over many draws of each functional case and of the emulator's benchmark. A GPU's benchmark has tens of millions of
terms, of which those of one sign do vanish in one accumulator: ``judge.check.tolerance`` says where the bound ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from judge.packs.inputs import make_inputs
from judge.packs.judging import expected_outputs
from judge.packs.pack import Pack
from judge.packs.sizes import case_bytes

Terms = npt.NDArray[np.float32]
SEED = 7
#: So many bytes of arguments are drawn for each case, in at least so many and at most so many draws.
DRAWN_BYTES, FEWEST, MOST = 4 << 20, 3, 60


def _dpo_terms(inputs: dict[str, Any]) -> Terms:
    chosen, rejected, chosen_reference, rejected_reference = (
        inputs[name] for name in ("chosen_logps", "rejected_logps", "chosen_ref_logps", "rejected_ref_logps")
    )
    margin = inputs["beta"] * ((chosen - rejected) - (chosen_reference - rejected_reference))
    return (np.maximum(-margin, 0) + np.log1p(np.exp(-np.abs(margin)))) / np.float32(margin.size)


def _squares(inputs: dict[str, Any]) -> Terms:
    difference = inputs["predictions"] - inputs["targets"]
    return difference * difference / np.float32(difference.size)


TERMS: dict[str, Callable[[dict[str, Any]], Terms]] = {
    "reduction": lambda inputs: inputs["input"],
    "dot-product": lambda inputs: inputs["A"] * inputs["B"],
    "half-dot": lambda inputs: inputs["A"].astype(np.float32) * inputs["B"].astype(np.float32),
    "mse": _squares,
    "dpo-loss": _dpo_terms,
}


@pytest.mark.parametrize("slug", TERMS)
def test_one_accumulator_passes_every_draw(slug: str, packs: dict[str, Pack]) -> None:
    pack = packs[slug]
    for case in (*pack.cases_for("emulator"), *pack.benchmarks_for("emulator")):
        for call in range(min(MOST, max(FEWEST, int(DRAWN_BYTES // case_bytes(pack, case))))):
            inputs = make_inputs(pack, case, SEED, call)
            total = np.cumsum(TERMS[slug](inputs).ravel(), dtype=np.float32)[-1]
            (expected,) = expected_outputs(pack, case, inputs).values()
            assert expected.bound is not None
            off = abs(float(total) - float(expected.values.ravel()[0])) / float(expected.bound.ravel()[0])
            assert off < 1, f"{case.id}, call {call}: off by {off:.2f} bounds"
