"""The message of a wrong answer says what it would be right for, if anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from judge.packs.collection.loader import load_pack
from judge.packs.judging import reference_outputs
from judge.supervisor.case_preparer import prepare_case
from judge.supervisor.layout import Array
from judge.supervisor.likely_readings import likely_reading
from tests.builds import ROOT


def _told(
    slug: str,
    change: Callable[[dict[str, Any]], dict[str, Any]] = lambda _: {},
    store: Callable[[Array], Array] = lambda right: right,
    clock: Callable[[], float] = lambda: 0.0,
) -> str:
    """Returns the reading of an answer to changed inputs, or stored otherwise, of the first case with 20 outputs."""
    pack = load_pack(ROOT / "challenges" / slug)
    cases = (prepare_case(pack, 7, case) for case in pack.cases_for("emulator"))
    [output] = pack.outputs
    prepared, right = next(
        (each, found)
        for each in cases
        if (found := reference_outputs(pack, each.case, each.inputs)[output.name]).size >= 20
    )
    if others := change(prepared.inputs):
        right = reference_outputs(pack, prepared.case, prepared.inputs | others)[output.name]
    answer = np.ascontiguousarray(store(right), output.dtype).reshape(right.shape)
    return likely_reading(pack, prepared, output.name, {output.name: answer}, clock=clock)


def _as_read_by_columns(values: Array) -> Array:
    rows, columns = values.shape
    return values.reshape(columns, rows).T


@pytest.mark.parametrize(
    ("slug", "change", "told"),
    [
        ("matmul", lambda given: {"B": _as_read_by_columns(given["B"])}, "the answer is right if B is read column by"),
        ("attention", lambda given: {"K": given["V"], "V": given["K"]}, "the answer is right if K and V are swapped"),
        ("layer-norm", lambda given: {"bias": 0 * given["bias"]}, "the answer is right if bias is 0 everywhere: does"),
        ("rms-norm", lambda _: {"gamma": np.float32(1)}, "the answer is right if gamma is 1: does the kernel use it?"),
    ],
)
def test_an_input_that_is_read_otherwise(slug: str, change: Any, told: str) -> None:
    assert _told(slug, change).startswith(told)


@pytest.mark.parametrize(
    ("slug", "store", "told"),
    [
        ("matmul", lambda right: right.T.reshape(right.shape), "C is right, but stored column by column instead of"),
        ("relu", lambda right: right[::-1], "output is right, but in reverse order"),
        ("prefix-sum", lambda right: np.r_[0, right[:-1]], "output is right, but each element is one place too late"),
        ("prefix-sum", lambda right: np.r_[right[1:], 0], "output is right, but each element is one place too early"),
    ],
)
def test_an_output_that_is_stored_otherwise(slug: str, store: Any, told: str) -> None:
    assert _told(slug, store=store).startswith(told)


@pytest.mark.parametrize(
    "store",
    [lambda right: right + 1, lambda right: 0 * right, lambda right: np.r_[0, 0, right[:-2]]],
    ids=["something else", "nothing", "two places"],
)
def test_nothing_is_told_of_other_answers(store: Any) -> None:
    assert _told("prefix-sum", store=store) == ""


def test_readings_are_not_tried_for_long() -> None:
    times = iter(range(0, 100, 3))
    assert _told("relu", store=lambda right: right[::-1], clock=lambda: next(times)) == ""
