"""The public cases of a challenge with the reference's answers, for the tests of an exported kernel."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np

from judge.packs import sizes
from judge.packs.data.inputs import make_inputs
from judge.packs.data.storage import stored
from judge.packs.judging import expected_outputs
from judge.packs.pack import Case, Pack

#: Of all samples together.
_MOST_BYTES = 8 << 20


def samples_of(pack: Pack) -> bytes:
    """Returns a ``.npz``: each case's inputs as they lie in memory, and each output's values with what they may be off.

    ``cases`` in it says by JSON which cases there are, with their axes and parameters. Outputs that the challenge
    checks by a rule of its own have no values here.
    """
    arrays: dict[str, Any] = {}
    cases: list[dict[str, Any]] = []
    used = 0
    for case in (each for each in pack.cases if each.group == "sample"):
        made = _arrays_of(pack, case)
        used += sum(array.nbytes for array in made.values())
        if cases and used > _MOST_BYTES:
            break
        arrays |= {f"{case.id}/{name}": array for name, array in made.items()}
        cases.append({"id": case.id, **case.variables})
    arrays["cases"] = np.frombuffer(json.dumps(cases).encode(), np.uint8)
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _arrays_of(pack: Pack, case: Case) -> dict[str, Any]:
    inputs = make_inputs(pack, case, seed=1)
    made = {each.name: stored(each.element, inputs[each.name]) for each in pack.inputs}
    for name, expected in expected_outputs(pack, case, inputs).items():
        made[f"{name}.values"] = expected.values
        bound = np.zeros(expected.values.shape) if expected.bound is None else expected.bound
        made[f"{name}.bound"] = bound + expected.common * np.abs(expected.values)
    for each in (argument for argument in pack.arguments if argument.is_pointer):
        made[f"{each.name}.shape"] = np.array(sizes.array_shape(case, each))
    return made
