"""Asks a pack's ``check`` about outputs of which several are right, and its ``mistake`` why outputs are wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from judge.judgement import Mismatch
from judge.packs import sizes
from judge.packs.data.inputs import Inputs
from judge.packs.data.lazy_array import real_arrays
from judge.packs.errors import PackError
from judge.packs.isolation.calls import runs_pack_code
from judge.packs.pack import Case, Pack

_MAX_SENTENCE = 500


def complaint_of_check(pack: Pack, case: Case, inputs: Inputs, outputs: Mapping[str, Any]) -> Mismatch | None:
    """Returns the complaint of the pack's ``check``; None where it finds nothing, or there is none.

    Raises PackError for a ``check`` that fails on the reference's own outputs too, or answers in another form.
    """
    if not pack.reference.defines("check"):
        return None
    return checked_mismatch(pack, _complaint(pack, case, inputs, outputs))


def checked_mismatch(pack: Pack, found: object) -> Mismatch | None:
    """Returns the mismatch, if any, that a pack's process found. Raises PackError where it says something else."""
    if found is None or isinstance(found, Mismatch):
        return found
    raise PackError(pack.reference.path, "", "sends what is neither a mismatch nor none")


def mistake_in(pack: Pack, case: Case, inputs: Inputs, outputs: Mapping[str, Any]) -> str:
    """Returns the sentence of the pack's ``mistake`` about wrong outputs; empty where it finds none, or there is none.

    Raises PackError for a ``mistake`` that fails or answers in another form.
    """
    found = _mistake(pack, case, inputs, outputs) if pack.reference.defines("mistake") else None
    if found is None:
        return ""
    if not isinstance(found, str):
        raise PackError(pack.reference.path, "mistake", "must return a sentence or None")
    return found[:_MAX_SENTENCE]


@runs_pack_code
def _mistake(pack: Pack, case: Case, inputs: Inputs, outputs: Mapping[str, Any]) -> object:
    mistake = pack.reference.mistake
    assert mistake is not None
    return mistake(real_arrays(inputs), _shaped(pack, case, outputs))


def _shaped(pack: Pack, case: Case, outputs: Mapping[str, Any]) -> dict[str, Any]:
    return {
        output.name: np.asarray(real_arrays({"it": outputs[output.name]})["it"]).reshape(sizes.shape(case, output))
        for output in pack.outputs
    }


@runs_pack_code
def _complaint(pack: Pack, case: Case, inputs: Inputs, outputs: Mapping[str, Any]) -> Mismatch | None:
    check = pack.reference.check
    assert check is not None
    given = real_arrays(inputs)
    shaped = _shaped(pack, case, outputs)
    try:
        said = check(given, shaped)
    except Exception as error:
        # Outputs may hold anything, such as indices far outside. If only they are to blame, they are wrong.
        _require_sound(pack, case, given, error)
        said = f"the outputs cannot be checked: {type(error).__name__}: {error}"
    if said is None:
        return None
    if not isinstance(said, str):
        reason = f"returned {type(said).__name__}; return None where the outputs are right, else a sentence"
        raise PackError(pack.directory / "reference.py", "check", reason)
    judged = next((output for output in pack.outputs if output.tolerance is None), pack.outputs[0])
    total = sizes.element_count(case, judged)
    return Mismatch(judged.name, (), (), (), total, total, None, None, said[:_MAX_SENTENCE])


def _require_sound(pack: Pack, case: Case, inputs: Inputs, error: Exception) -> None:
    from_reference = pack.reference.reference(**inputs)
    by_output: Mapping[str, npt.ArrayLike] = (
        from_reference if isinstance(from_reference, dict) else {pack.outputs[0].name: from_reference}
    )
    right = {
        output.name: np.asarray(by_output[output.name]).astype(output.dtype).reshape(sizes.shape(case, output))
        for output in pack.outputs
    }
    check = pack.reference.check
    assert check is not None
    try:
        check(inputs, right)
    except Exception:
        reason = f"fails in the case {case.id}: {type(error).__name__}: {error}"
        raise PackError(pack.directory / "reference.py", "check", reason) from error
