"""Decides whether the outputs of one call are right."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from judge.check.compare import compare
from judge.check.mismatch import at_rows, joined
from judge.check.tolerance import Expected, Tolerance
from judge.judgement import Mismatch
from judge.packs import sizes
from judge.packs.auto_tolerance import allowances
from judge.packs.checkers import checked_mismatch, complaint_of_check
from judge.packs.data.inputs import Inputs
from judge.packs.data.lazy_array import real_arrays
from judge.packs.data.streams import Stream
from judge.packs.errors import PackError
from judge.packs.form.argument import Argument
from judge.packs.isolation.calls import runs_pack_code
from judge.packs.pack import Case, Pack

Array = npt.NDArray[np.generic]

#: Returns the first output that is wrong anywhere, or None. Outputs need not be contiguous.
Checker = Callable[[Mapping[str, Array]], Mismatch | None]


def make_checker(pack: Pack, case: Case, inputs: Inputs, expected: Mapping[str, Expected] | None = None) -> Checker:
    """Returns a function that checks the outputs of a call with these inputs; runs the slow reference here.

    ``inputs`` are as they were before the call. ``expected`` is what ``expected_outputs`` made of them, if it is known.
    """
    expected = expected_outputs(pack, case, inputs) if expected is None else expected
    return functools.partial(_mismatch, pack, case, inputs, expected)


def expected_checker(expected: Mapping[str, Expected]) -> Checker:
    """Returns a checker that compares every element with these values."""
    return functools.partial(_first_mismatch, expected)


def _mismatch(
    pack: Pack, case: Case, inputs: Inputs, expected: Mapping[str, Expected], outputs: Mapping[str, Array]
) -> Mismatch | None:
    return _first_mismatch(expected, outputs) or complaint_of_check(pack, case, inputs, outputs)


def check_outputs(pack: Pack, case: Case, inputs: Inputs, outputs: Mapping[str, Array]) -> Mismatch | None:
    """Returns the first output that is wrong anywhere, or None; every element is compared."""
    return make_checker(pack, case, inputs)(outputs)


def spot_check(pack: Pack, case: Case, inputs: Inputs, outputs: Mapping[str, Any], seed: int) -> Mismatch | None:
    """Checks parts of a timed call's outputs, which ``seed`` chooses; draw it after the outputs were made.

    ``inputs`` are those of ``make_inputs``, or of ``lazy_inputs``, which saves making what the check does not read;
    ``outputs`` are arrays, or LazyArrays likewise. Where the pack has no ``spot_check`` every element is compared.

    The parts are held against the same bounds as in a full check; a wrong row that is not drawn goes unseen. So packs
    draw enough rows to make skipped work show (64 rows show a skipped tenth with probability 99.9 % in every call), or
    choose rows by a cheap check of the whole output (Freivalds) where there is one.
    """
    if not pack.reference.defines("spot_check"):
        return check_outputs(pack, case, real_arrays(inputs), real_arrays(outputs))
    return checked_mismatch(pack, _check_parts(pack, case, inputs, outputs, seed))


@runs_pack_code
def _check_parts(pack: Pack, case: Case, inputs: Inputs, outputs: Mapping[str, Any], seed: int) -> Mismatch | None:
    assert pack.reference.spot_check is not None
    shapes = {output.name: sizes.shape(case, output) for output in pack.outputs}
    shaped = {
        name: outputs[name] if outputs[name].shape == shape else outputs[name].reshape(shape)
        for name, shape in shapes.items()
    }
    compared_outputs = [output for output in pack.outputs if output.tolerance is not None]
    generator = Stream(seed, case.id, "spot_check", 0).generator()
    parts = pack.reference.spot_check(generator, inputs, shaped)
    mismatches: dict[str, list[Mismatch]] = {name: [] for name in shaped}
    compared = dict.fromkeys(shaped, 0)
    for part in [parts] if isinstance(parts, dict) else parts:
        for output in compared_outputs:
            rows, values, magnitude = part[output.name]
            expected = expected_of(pack, case, output, values, magnitude, np.shape(values))
            compared[output.name] += expected.values.size
            mismatch = compare(output.name, expected, shaped[output.name][rows])
            if mismatch is not None:
                mismatches[output.name].append(at_rows(mismatch, rows))
    wrong = next((joined(found, compared[name]) for name, found in mismatches.items() if found), None)
    return wrong or complaint_of_check(pack, case, inputs, shaped)


def expected_outputs(pack: Pack, case: Case, inputs: Inputs) -> dict[str, Expected]:
    """Returns the right value of each output that has a tolerance, with the bound of each element.

    ``inputs`` are as they were before the call.
    """
    compared = [output for output in pack.outputs if output.tolerance is not None]
    if not compared:
        return {}
    expected = _expected_outputs(pack, case, inputs)
    shapes = {output.name: sizes.shape(case, output) for output in compared}
    if not isinstance(expected, dict) or shapes != {
        name: each.values.shape if isinstance(each, Expected) else None for name, each in expected.items()
    }:
        raise PackError(pack.reference.path, "reference", "sends what are not the outputs of its challenge")
    return expected


@runs_pack_code
def _expected_outputs(pack: Pack, case: Case, inputs: Inputs) -> dict[str, Expected]:
    compared = [output for output in pack.outputs if output.tolerance is not None]
    values = _by_output(pack, pack.reference.reference(**inputs))
    magnitudes = _by_output(pack, pack.reference.magnitude(**inputs)) if pack.reference.magnitude else {}
    return {
        output.name: expected_of(
            pack, case, output, values[output.name], magnitudes.get(output.name), sizes.shape(case, output)
        )
        for output in compared
    }


@runs_pack_code
def reference_outputs(pack: Pack, case: Case, inputs: Inputs) -> dict[str, Array]:  # noqa: ARG001 -- bounds the call
    """Returns the reference's results for the inputs, by output."""
    made = _by_output(pack, pack.reference.reference(**inputs))
    return {name: np.asarray(values) for name, values in made.items()}


def _first_mismatch(expected: Mapping[str, Expected], outputs: Mapping[str, Array]) -> Mismatch | None:
    for name, want in expected.items():
        mismatch = compare(name, want, outputs[name].reshape(want.values.shape))
        if mismatch is not None:
            return mismatch
    return None


def _by_output(pack: Pack, result: Any) -> dict[str, Any]:
    return result if isinstance(result, dict) else {pack.outputs[0].name: result}


def expected_of(
    pack: Pack, case: Case, output: Argument, values: Any, magnitude: Any, shape: tuple[int, ...]
) -> Expected:
    """Returns right values of an output, all or some rows of them, with the bound of each."""
    rule = output.tolerance
    assert rule is not None, "only outputs with a tolerance are compared"
    if rule.kind == "exact":
        return Expected(np.asarray(values).reshape(shape), None)
    if rule.kind == "auto":
        allowance = allowances(pack, case)[output.name]
        tolerance = Tolerance("auto", rule.accumulate, absolute=allowance.absolute, relative=allowance.relative)
    else:
        terms = float(rule.terms.evaluate(case.variables))
        tolerance = Tolerance(rule.kind, rule.accumulate, terms, rule.absolute, rule.relative)
    wanted = np.asarray(values, np.float64).reshape(shape)
    scale = None if magnitude is None else np.asarray(magnitude, np.float64).reshape(shape)
    return Expected(
        wanted, tolerance.bound(wanted, scale, output.element.facts.narrow or output.dtype), tolerance.common
    )
