"""Mutants in NumPy: wrong answers, and right answers to wrong inputs, that some case must refuse.

A mutant is one mistake that kernels make, applied to every case: the last element left out, an input read in half
precision, a scalar taken for 1. It is killed once a case refuses it; a case in which it changes no bit of the outputs
does not count. A mutant that no case refuses, though it changed something, survives. One that never changes anything
is not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import partial
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from judge.verify.prepared import Outputs, PreparedCase, right_outputs
from records import dataclass

Array = npt.NDArray[Any]
Mistake = Callable[[Array], Array]
Maker = Callable[[], Outputs | None]

_TILE = 32


@dataclass(slots=True)
class MutantResult:
    """The fate of one mutant: the cases in which it changed something, and those that refused it."""

    name: str
    applied: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    @property
    def killed(self) -> bool:
        return bool(self.refused)


def try_answer_mutants(cases: Sequence[PreparedCase], *, until_killed: bool) -> list[MutantResult]:
    """Applies every mutant to the cases, in order. With ``until_killed`` one refusal is enough.

    Returns those that changed something in some case.
    """
    results: dict[str, MutantResult] = {}
    for prepared in cases:
        for name, make in _mutants(prepared):
            result = results.setdefault(name, MutantResult(name))
            if result.killed and until_killed:
                continue
            answer = make()
            if answer is None or _same_bits(answer, prepared.right):
                continue
            result.applied.append(prepared.case.id)
            if prepared.check(answer) is not None:
                result.refused.append(prepared.case.id)
    return [result for result in results.values() if result.applied]


def _mutants(prepared: PreparedCase) -> Iterator[tuple[str, Maker]]:
    yield from _output_mutants(prepared)
    yield from _input_mutants(prepared)


def _output_mutants(prepared: PreparedCase) -> Iterator[tuple[str, Maker]]:
    right = prepared.right
    # In an empty output nothing can be wrong.
    if not all(values.size for values in right.values()):
        return

    def with_mistake(mistake: Mistake) -> Outputs:
        return {name: mistake(values) for name, values in right.items()}

    def with_one(output: str, mistake: Mistake) -> Outputs:
        return right | {output: mistake(right[output])}

    wide = {
        output.name
        for output in prepared.pack.outputs
        if output.element.facts.is_float and output.element.facts.size_bytes > 2
    }
    for name, mistake in _PLACES.items():
        yield f"output: {name}", partial(with_mistake, mistake)
    yield "output: of another seed", lambda: PreparedCase(prepared.pack, prepared.case, prepared.seed + 1).right
    for output in right:
        if len(right) > 1:
            yield f"output: {output} left out", partial(with_one, output, np.zeros_like)
        if output in wide:
            yield f"output: {output} in half precision", partial(with_one, output, _in_half)


def _input_mutants(prepared: PreparedCase) -> Iterator[tuple[str, Maker]]:
    inputs = prepared.inputs

    def answer_to(name: str, mistake: Mistake) -> Outputs | None:
        """Returns the right answer to the wrong input; None where it is not wrong or the reference cannot take it."""
        changed = mistake(inputs[name])
        if np.array_equal(changed, inputs[name]):
            return None
        copies = {key: value.copy() if isinstance(value, np.ndarray) else value for key, value in inputs.items()}
        try:
            with np.errstate(all="ignore"):
                return right_outputs(prepared.pack, prepared.case, copies | {name: changed})
        except Exception:
            return None

    for argument in prepared.pack.inputs:
        given = inputs[argument.name]
        if not given.size:
            continue
        for what, mistake in _READINGS.items():
            yield f"input: {argument.name} {what}", partial(answer_to, argument.name, mistake)
        if given.dtype == np.float32 and prepared.pack.bench.arithmetic not in _PRECISIONS:
            for what, rounding in _PRECISIONS.items():
                yield f"input: {argument.name} in {what}", partial(answer_to, argument.name, rounding)
    sizes = {axis.name for axis in prepared.pack.axes}
    for argument in prepared.pack.arguments:
        # A size that is wrong is a mistake in shape, which the mutants of outputs and inputs stand for.
        if argument.value is None or argument.value.names & sizes:
            continue
        for value in (0, 1):
            taken = partial(_taken_for, argument.dtype.type(value))
            yield f"input: {argument.name} taken for {value}", partial(answer_to, argument.name, taken)


def _taken_for(value: Any, _: Array) -> Array:
    return cast(Array, value)


def _zeroed(start: Callable[[int], int], stop: Callable[[int], int] = lambda size: size) -> Callable[[Array], Array]:
    def mistake(values: Array) -> Array:
        wrong = values.copy()
        wrong.reshape(-1)[max(0, start(values.size)) : stop(values.size)] = 0
        return wrong

    return mistake


def _last_tile(values: Array) -> Array:
    wrong = values.copy()
    wrong[(slice(None),) * (values.ndim - 2) + (slice(-_TILE, None),) * min(2, values.ndim)] = 0
    return wrong


def _transposed(values: Array) -> Array:
    """Returns the last two axes exchanged, in memory of the same size."""
    if values.ndim < 2:
        return values
    return np.ascontiguousarray(np.swapaxes(values, -1, -2)).reshape(values.shape)


def _first_row_only(values: Array) -> Array:
    if values.ndim < 2:
        return values
    wrong = np.zeros_like(values)
    wrong[0] = values[0]
    return wrong


def _shifted(values: Array) -> Array:
    return np.roll(values.reshape(-1), 1).reshape(values.shape)


def _in_half(values: Array) -> Array:
    with np.errstate(over="ignore"):
        return values.astype(np.float16).astype(values.dtype)


def _in_bfloat16(values: Array) -> Array:
    bits = np.ascontiguousarray(values).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).astype(np.uint32).view(np.float32)


def _in_tf32(values: Array) -> Array:
    bits = np.ascontiguousarray(values).view(np.uint32)
    return ((bits + 0x1000) & np.uint32(0xFFFFE000)).astype(np.uint32).view(np.float32)


_PLACES: dict[str, Callable[[Array], Array]] = {
    "zeros": np.zeros_like,
    "first element left out": _zeroed(lambda _: 0, lambda _: 1),
    "last element left out": _zeroed(lambda size: size - 1),
    "what a warp leaves over": _zeroed(lambda size: size - size % 32),
    "what a block of 256 leaves over": _zeroed(lambda size: size - size % 256),
    "all beyond the first 1024": _zeroed(lambda _: 1024),
    "last tile left out": _last_tile,
    "transposed": _transposed,
    "first row only": _first_row_only,
    "shifted by one": _shifted,
}
_READINGS: dict[str, Callable[[Array], Array]] = {
    "taken for zero": np.zeros_like,
    "without its first element": _zeroed(lambda _: 0, lambda _: 1),
    "without its last element": _zeroed(lambda size: size - 1),
    "without what a warp leaves over": _zeroed(lambda size: size - size % 32),
    "transposed": _transposed,
    "shifted by one": _shifted,
}
_PRECISIONS: dict[str, Callable[[Array], Array]] = {"fp16": _in_half, "bf16": _in_bfloat16, "tf32": _in_tf32}


def _same_bits(one: Outputs, other: Outputs) -> bool:
    return all(one[name].tobytes() == other[name].tobytes() for name in one)
