"""Checks every functional case: its inputs, its reference, and that no trivial answer is accepted."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from judge.packs import sizes
from judge.packs.checkers import mistake_in
from judge.packs.data.decoys import decoy
from judge.packs.data.distributions import varies
from judge.packs.data.inputs import Inputs, lazy_inputs, make_inputs
from judge.packs.errors import PackError
from judge.packs.form.expressions import ExpressionError
from judge.packs.judging import reference_outputs, spot_check
from judge.packs.pack import Case, Pack
from judge.verify.findings import Finding, error, warning
from judge.verify.prepared import SEED, PreparedCase
from judge.verify.trivial_answers import accepted_trivial_answers

#: Seeds whose inputs are checked for trivial answers besides the first.
_MORE_SEEDS = (2, 3)
#: The share of an output's elements at the ends of its type's range from which on a case shows little.
_SATURATED = 0.5
_FEW = 16
#: Only these answers are wrong in every case: the others are right where a copy or a constant is.
_NEVER_RIGHT = ("zeros", "the first nine tenths")


def check_case(prepared: PreparedCase, *, all_seeds: bool) -> Iterator[Finding]:
    """Yields the faults of a case. Exceptions of the pack's code are findings, too."""
    pack, case = prepared.pack, prepared.case
    try:
        yield from _check_inputs(prepared)
        yield from _check_reference(prepared)
        yield from _check_answers(prepared)
        if all_seeds:
            for seed in _MORE_SEEDS:
                yield from _check_answers(PreparedCase(pack, case, seed))
    except ExpressionError as problem:
        yield error("expression", pack.directory / "challenge.toml", f"cases.{case.id}", str(problem))
    except Exception as problem:
        yield reference_failed(pack, case, problem)


def reference_failed(pack: Pack, case: Case, problem: BaseException) -> Finding:
    """Returns the finding that the pack's code failed."""
    file, key, message = pack.reference.path, f"cases.{case.id}", f"{type(problem).__name__}: {problem}"
    if isinstance(problem, PackError):
        file, message = problem.file, f"{problem.key}: {problem.reason}" if problem.key else problem.reason
    return error("reference-failed", file, key, message)


def check_decoys(pack: Pack) -> Iterator[Finding]:
    """Yields the benchmarks whose reference fails at the least sizes of decoys, where data do not follow the sizes."""
    for case in pack.benchmarks_for("emulator"):
        smaller = decoy(pack, case, min)
        if smaller is case:
            continue
        at = ", ".join(f"{name} = {size}" for name, size in smaller.axes.items())
        smaller = dataclasses.replace(smaller, id=f"{case.id}, timed at {at}")
        try:
            yield from _check_reference(PreparedCase(pack, smaller))
        except Exception as problem:
            yield reference_failed(pack, smaller, problem)


def check_scalars(pack: Pack) -> Iterator[Finding]:
    """Yields the scalars of the signature that their type cannot hold at an axis's largest size."""
    file = pack.directory / "challenge.toml"
    largest = {axis.name: axis.max for axis in pack.axes}
    for argument in pack.arguments:
        if argument.value is None or argument.dtype.kind not in "iu" or not argument.value.names <= set(largest):
            continue
        value, most = argument.value.evaluate(largest), int(np.iinfo(str(argument.dtype)).max)
        if value > most:
            message = f"is {value:,} at the largest sizes, and {argument.c_type} holds at most {most:,}"
            yield error("size-overflow", file, f"axes ({argument.name})", message)


def check_benchmark_sizes(pack: Pack) -> Iterator[Finding]:
    """Yields the benchmarks whose expressions have no value or in which an index needs more than 32 bits."""
    file = pack.directory / "challenge.toml"
    for case in pack.benchmarks:
        try:
            for argument in pack.arguments:
                if argument.is_pointer and sizes.element_count(case, argument) > np.iinfo(np.int32).max:
                    message = f"{argument.name} has more elements than an int counts"
                    yield warning("size-overflow", file, f"benchmarks.{case.id}", message)
            if sizes.case_bytes(pack, case) <= 0:
                yield error("bench-bytes", file, "bench.bytes", f"must be above zero, and is not in the case {case.id}")
        except ExpressionError as problem:
            yield error("expression", file, f"benchmarks.{case.id}", str(problem))


def _check_inputs(prepared: PreparedCase) -> Iterator[Finding]:
    pack, case = prepared.pack, prepared.case
    file, key = pack.directory / "challenge.toml", f"cases.{case.id}"
    for argument in pack.inputs:
        value = prepared.inputs[argument.name]
        # Code may mean an infinity; declared data can only have overflowed its type.
        if case.distribution(argument) and value.dtype.kind == "f" and not np.isfinite(value).all():
            yield warning("input-not-finite", file, key, f"{argument.name} has values that are not finite")
    if pack.reference.defines("make_inputs") and not _same(prepared.inputs, make_inputs(pack, case, SEED)):
        message = "the same seed makes different inputs; draw only from the generator that make_inputs gets"
        yield error("seed-ignored", pack.directory / "reference.py", key, message)
    if _can_vary(pack, case) and _same(prepared.inputs, make_inputs(pack, case, SEED + 1)):
        message = "another seed makes the same inputs; draw from the generator that make_inputs gets"
        yield error("seed-without-effect", pack.directory / "reference.py", key, message)


def _can_vary(pack: Pack, case: Case) -> bool:
    """Returns whether inputs of another seed should differ: constants cannot, nor can two coins.

    What ``make_inputs`` makes of a case that anybody can guess may be constant, too.
    """
    if case.guessable:
        return False
    declared = [(case.distribution(argument), sizes.shape(case, argument)) for argument in pack.inputs]
    large = any(sizes.element_count(case, argument) >= _FEW for argument in pack.inputs)
    return large and not any(each is not None and not varies(each, shape) for each, shape in declared)


def _check_reference(prepared: PreparedCase) -> Iterator[Finding]:
    pack, case = prepared.pack, prepared.case
    file, key = pack.directory / "reference.py", f"cases.{case.id}"
    made = reference_outputs(pack, case, prepared.inputs)
    for output in pack.outputs:
        if output.name not in made:
            yield error("reference-output", file, key, f"the reference returns no {output.name}")
            return
        values = np.asarray(made[output.name])
        if values.size != sizes.element_count(case, output):
            message = f"the reference returns {values.shape} for {output.name}, not {sizes.shape(case, output)}"
            yield error("reference-shape", file, key, message)
            return
        if output.dtype.kind == "f" and values.dtype != np.float64:
            yield error("reference-float64", file, key, f"the reference returns {output.name} in {values.dtype}")
        yield from _check_range(prepared, output.name, values, prepared.right[output.name])
    right = prepared.right
    mismatch = prepared.check(right)
    if mismatch is None:
        mismatch = spot_check(pack, case, lazy_inputs(pack, case, prepared.seed), right, seed=1)
    if mismatch is not None:
        yield error("reference-rejected", file, key, f"the reference's own answer is rejected: {mismatch.message}")
    elif "emulator" in case.devices and (told := mistake_in(pack, case, prepared.inputs, right)):
        yield error("reference-accused", file, key, f"mistake finds one in the reference's own answer: {told}")


def _check_range(prepared: PreparedCase, name: str, values: np.ndarray, right: np.ndarray) -> Iterator[Finding]:
    file, key = prepared.pack.directory / "reference.py", f"cases.{prepared.case.id}"
    if not values.size:
        return
    if values.dtype.kind == "f":
        if not np.isfinite(values).any():
            yield error("reference-not-finite", file, key, f"the reference returns no finite number in {name}")
        elif right.dtype.kind == "f" and not np.isfinite(right[np.isfinite(values.reshape(right.shape))]).all():
            yield error("output-overflow", file, key, f"{name} has values that {right.dtype} cannot hold")
    if right.dtype.kind in "iu":
        limits = np.iinfo(right.dtype)
        if values.min() < limits.min or values.max() > limits.max:
            yield error("output-overflow", file, key, f"{name} has values that {right.dtype} cannot hold")
        elif limits.min < 0 and right.size >= _FEW:
            share = float(np.mean((right == limits.min) | (right == limits.max)))
            if share > _SATURATED:
                message = f"{share:.0%} of {name} is at the end of the range of {right.dtype}"
                yield warning("output-saturated", file, key, message)


def _check_answers(prepared: PreparedCase) -> Iterator[Finding]:
    passing: Sequence[str] = accepted_trivial_answers(prepared)
    # Even where a copy or a constant is right, doing nothing or only a part is wrong.
    if prepared.case.guessable:
        passing = [guess for guess in passing if guess in _NEVER_RIGHT]
    if passing:
        answers = ", ".join(passing)
        message = f"accepts a trivial answer ({answers}); change the data, or set guessable = true if it is right"
        yield error("trivial-answer", prepared.pack.directory / "challenge.toml", f"cases.{prepared.case.id}", message)


def _same(one: Inputs, other: Inputs) -> bool:
    return all(np.array_equal(one[name], other[name]) for name in one)
