"""Derives the allowances of outputs with the tolerance ``auto``, once for each case in a process."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import numpy as np

from judge.check.sensitivity import Allowance, derive_allowances
from judge.packs import sizes
from judge.packs.data.inputs import make_inputs
from judge.packs.errors import PackError
from judge.packs.pack import Case, Pack

#: The inputs that the bound is derived from are drawn with seeds of their own, beyond those of submissions.
_FIRST_SEED = 1 << 62
#: Outputs larger than this are not computed whole where the pack can pick rows.
_WHOLE_ELEMENTS = 1 << 22

_lock = threading.Lock()
_known: dict[tuple[str, str], dict[str, Allowance]] = {}


def allowances(pack: Pack, case: Case) -> dict[str, Allowance]:
    """Returns the allowance of each output with the tolerance ``auto``. Raises PackError if none can be derived."""
    key = (pack.digest, case.id)
    with _lock:
        if key not in _known:
            _known[key] = _derive(pack, case)
        return _known[key]


def _derive(pack: Pack, case: Case) -> dict[str, Allowance]:
    names = [output.name for output in pack.outputs if output.tolerance is not None and output.tolerance.kind == "auto"]
    compute = _rows if _picks_rows(pack, case) else _whole

    def draw(seed: int) -> Mapping[str, Any]:
        return make_inputs(pack, case, _FIRST_SEED + seed)

    def computation(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        values = compute(pack, case, inputs)
        return {name: values[name] for name in names}

    try:
        return derive_allowances(computation, draw)
    except PackError:
        raise
    except Exception as error:
        reason = (
            f"the tolerance 'auto' of {', '.join(names)} cannot be derived in the case {case.id} "
            f"({type(error).__name__}: {error}); state another kind"
        )
        raise PackError(pack.directory / "reference.py", "reference", reason) from error


def _picks_rows(pack: Pack, case: Case) -> bool:
    elements = sum(sizes.element_count(case, argument) for argument in pack.arguments if argument.is_pointer)
    return pack.reference.defines("spot_check") and elements > _WHOLE_ELEMENTS


def _whole(pack: Pack, _: Case, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    result = pack.reference.reference(**inputs)
    return result if isinstance(result, dict) else {pack.outputs[0].name: result}


def _rows(pack: Pack, case: Case, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the values of rows that the pack's ``spot_check`` picks, the same ones at every call."""
    assert pack.reference.spot_check is not None
    outputs = {
        output.name: np.broadcast_to(np.zeros((), output.dtype), sizes.shape(case, output)) for output in pack.outputs
    }
    parts = pack.reference.spot_check(np.random.default_rng(1), inputs, outputs)
    found = parts if isinstance(parts, dict) else next(iter(parts))
    return {name: values for name, (_, values, _) in found.items()}
