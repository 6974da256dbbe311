"""Answers that need no computation, to find the cases that accept one of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from judge.verify.prepared import Outputs, PreparedCase


def accepted_trivial_answers(prepared: PreparedCase) -> tuple[str, ...]:
    """Returns the names of the trivial answers that would be accepted for this case.

    A guessable case may accept the right answer itself, even where that is all zeros or ends with them.
    """
    return tuple(
        name
        for name, outputs in _answers(prepared)
        if prepared.check(outputs) is None and not (prepared.case.guessable and _is_right(prepared, outputs))
    )


def _is_right(prepared: PreparedCase, outputs: Outputs) -> bool:
    return all(np.array_equal(values, outputs[name], equal_nan=True) for name, values in prepared.right.items())


def _answers(prepared: PreparedCase) -> Iterator[tuple[str, Outputs]]:
    right = prepared.right
    # In an empty output nothing can be wrong.
    if not any(values.size for values in right.values()):
        return
    yield "zeros", {name: np.zeros_like(values) for name, values in right.items()}
    yield "ones", {name: np.ones_like(values) for name, values in right.items()}
    if any(values.size > 1 for values in right.values()):
        with np.errstate(over="ignore", invalid="ignore"):
            means = {name: values.mean(dtype=np.float64) if values.size else 0.0 for name, values in right.items()}
            yield "the mean everywhere", {name: _filled(values, means[name]) for name, values in right.items()}
    for argument in prepared.pack.inputs:
        given = prepared.inputs[argument.name]
        if not given.size:
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            copies = {name: np.resize(given, values.shape).astype(values.dtype) for name, values in right.items()}
        yield f"a copy of {argument.name}", copies
    if all(values.size >= 10 for values in right.values()):
        yield "the first nine tenths", {name: _without_last_tenth(values) for name, values in right.items()}


def _filled(values: npt.NDArray[np.generic], value: float) -> npt.NDArray[np.generic]:
    return np.broadcast_to(np.asarray(value).astype(values.dtype), values.shape).copy()


def _without_last_tenth(values: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    cut = values.copy()
    cut.reshape(-1)[-(values.size // 10) :] = 0
    return cut
