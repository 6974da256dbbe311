"""Finds what a wrong answer would be right for: an input read otherwise, or an output that is stored otherwise.

Each reading is what kernels do by mistake: rows and columns swapped, an argument left out, two arguments in the wrong
order, a place too far. The reference says what it gives, and a reading counts only if all outputs are right for it, by
the challenge's own bounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from itertools import chain, combinations
from typing import Any

import numpy as np

from judge.judgement import Mismatch
from judge.packs.errors import PackError
from judge.packs.judging import check_outputs
from judge.packs.pack import Pack
from judge.supervisor.case_preparer import PreparedCase
from judge.supervisor.layout import Array
from judge.wire.elements import Element
from records import dataclass

#: How long readings are tried, in seconds; the one under way is finished.
_MOST_S = 1.0
#: With fewer different numbers in the output, several readings may give the same by chance.
_FEWEST_VALUES = 4
_BY_COLUMNS = "column by column instead of row by row: are indices swapped, or is the row length another one?"


@dataclass(frozen=True, slots=True)
class _Reading:
    """A reading in words: the inputs that are other ones, or the output as it should be stored.

    ``spare`` is the element of that output which nobody knows.
    """

    told: str
    inputs: Mapping[str, Any] = field(default_factory=dict)
    output: Array | None = None
    spare: int | None = None


def likely_reading(
    pack: Pack,
    prepared_case: PreparedCase,
    name: str,
    outputs: Mapping[str, Array],
    *,
    clock: Callable[[], float] = time.monotonic,
) -> str:
    """Returns the reading for which all ``outputs`` are right, in words; empty if none is found.

    ``name`` is that of the wrong output. A pack whose ``check`` decides has none.
    """
    if pack.reference.defines("check") or not _is_telling(outputs[name]):
        return ""
    until = clock() + _MOST_S
    for reading in chain(_stored_otherwise(name, outputs[name]), _read_otherwise(pack, prepared_case.inputs)):
        if clock() > until:
            break
        answers = dict(outputs) if reading.output is None else {**outputs, name: reading.output}
        inputs = {**prepared_case.inputs, **reading.inputs}
        try:
            wrong = (
                check_outputs(pack, prepared_case.case, inputs, answers)
                if reading.inputs
                else prepared_case.check(answers)
            )
        except PackError:
            # References may refuse what no case has, such as a divisor of 0.
            continue
        if wrong is None or (reading.spare is not None and _is_only(wrong, name, reading.spare)):
            return reading.told
    return ""


def _is_telling(values: Array) -> bool:
    return bool(np.unique(values[np.isfinite(values)]).size >= _FEWEST_VALUES)


def _is_only(wrong: Mismatch, name: str, place: int) -> bool:
    return wrong.output == name and wrong.count == 1 and wrong.indices[0] == (place,)


def _stored_otherwise(name: str, got: Array) -> Iterator[_Reading]:
    if got.ndim >= 2 and min(got.shape[-2:]) > 1:
        yield _Reading(f"{name} is right, but stored {_BY_COLUMNS}", output=_by_columns(got))
    yield _Reading(f"{name} is right, but in reverse order", output=got.reshape(-1)[::-1].reshape(got.shape))
    if got.ndim == 1:
        last = got.size - 1
        yield _Reading(f"{name} is right, but each element is one place too late", {}, np.roll(got, -1), last)
        yield _Reading(f"{name} is right, but each element is one place too early", {}, np.roll(got, 1), 0)


def _read_otherwise(pack: Pack, given: Mapping[str, Any]) -> Iterator[_Reading]:
    arrays = {each.name: np.asarray(given[each.name]) for each in pack.inputs}
    for name, values in arrays.items():
        if values.ndim >= 2 and min(values.shape[-2:]) > 1:
            yield _Reading(f"the answer is right if {name} is read {_BY_COLUMNS}", {name: _by_columns(values)})
    for one, other in combinations(arrays, 2):
        if arrays[one].shape == arrays[other].shape and arrays[one].dtype == arrays[other].dtype:
            told = f"the answer is right if {one} and {other} are swapped"
            yield _Reading(told, {one: arrays[other], other: arrays[one]})
    for argument in pack.arguments:
        if argument.role == "out" or not (argument.element.facts.is_float or argument.element is Element.BOOL):
            continue
        values = np.asarray(given[argument.name])
        for number in (0.0, 1.0):
            if (values != number).any():
                where = " everywhere" if values.ndim else ""
                told = f"the answer is right if {argument.name} is {number:g}{where}: does the kernel use it?"
                yield _Reading(told, {argument.name: np.full_like(values, number)[()]})


def _by_columns(values: Array) -> Array:
    """Returns the array of a kernel that takes the rows of the last two axes for columns."""
    *outer, rows, columns = values.shape
    return np.ascontiguousarray(values.reshape(*outer, columns, rows).swapaxes(-1, -2))
