"""Measures how often a pack's spot check notices that one element of the outputs is wrong."""

from __future__ import annotations

import numpy as np

from judge.packs.data.inputs import lazy_inputs
from judge.packs.judging import spot_check
from judge.verify.prepared import Outputs, PreparedCase
from records import dataclass

TRIALS = 20


@dataclass(frozen=True, slots=True)
class SpotResult:
    """Of ``trials`` outputs with one wrong element ``noticed`` were refused; ``output`` is where it was."""

    case_id: str
    output: str
    trials: int
    noticed: int

    @property
    def share(self) -> float:
        return self.noticed / self.trials


def try_spot_mutants(prepared: PreparedCase, trials: int = TRIALS) -> list[SpotResult]:
    """Changes one element at a time, at another place each time, and asks the spot check with another seed each time.

    Empty outputs have nothing to change. Raises what the pack's code does.
    """
    pack, case = prepared.pack, prepared.case
    inputs = lazy_inputs(pack, case, prepared.seed)
    random = np.random.default_rng(prepared.seed)
    results = []
    for name, right in prepared.right.items():
        if not right.size:
            continue
        noticed = sum(
            spot_check(pack, case, inputs, _with_one_wrong(prepared.right, name, random), seed=seed) is not None
            for seed in range(trials)
        )
        results.append(SpotResult(case.id, name, trials, noticed))
    return results


def _with_one_wrong(right: Outputs, name: str, random: np.random.Generator) -> Outputs:
    wrong = right[name].copy()
    flat = wrong.reshape(-1)
    place = int(random.integers(flat.size))
    if wrong.dtype.kind == "f":
        flat[place] = flat[place] * 2 + 1 if np.isfinite(flat[place]) else 0
    elif wrong.dtype.kind == "b":
        flat[place] = not flat[place]
    else:
        flat[place] ^= 1
    return right | {name: wrong}
