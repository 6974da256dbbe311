"""Texture fetches and surfaces on a real GPU: the cases that the emulator's tests have, and their answers."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.builds import SHARED_LIBRARY, build_with_nvcc
from tests.integration.emulator.images.conftest import PROGRAMS
from tests.integration.emulator.images.model import FILTERED, FLOAT, Case, cases, expected, fetch_all
from tests.integration.emulator.images.moves import moves, run_move

pytestmark = [pytest.mark.gpu, pytest.mark.nvcc]

# Hardware sums filtered texels in less than double precision, those of halves in halves.
_RELATIVE, _HALF_RELATIVE, _ABSOLUTE = 2e-4, 1e-3, 2e-4
# It converts sRGB by a table, and rounds the weights of a volume's eight texels (below 128 here) more than once.
_SRGB_ABSOLUTE, _VOLUME_ABSOLUTE = 8e-3, 1.0
# It approximates the level that derivatives ask for.
_OTHER_LEVELS = 2


@pytest.fixture(scope="module")
def program() -> Iterator[Any]:
    """The program of the cases, with the first GPU's context current."""
    cuda = pytest.importorskip("pycuda.driver")
    cuda.init()
    context = cuda.Device(0).retain_primary_context()
    context.push()
    yield ctypes.CDLL(str(build_with_nvcc(PROGRAMS / "fetches.cu", *SHARED_LIBRARY)))
    context.pop()


def _tolerances(case: Case) -> tuple[float, float]:
    """Returns the relative and the absolute difference that hardware may have."""
    if case.srgb:
        return _RELATIVE, _SRGB_ABSOLUTE
    if case.filter == FILTERED and case.axes == 3 and case.function.startswith("tex3D"):
        return _RELATIVE, _VOLUME_ABSOLUTE
    return (_HALF_RELATIVE if case.bits == 16 and case.kind == FLOAT else _RELATIVE), _ABSOLUTE


def _difference(program: ctypes.CDLL, case: Case) -> str | None:
    """Returns how many fetches differ, and the first of them; None where none does."""
    places = case.coordinates()
    try:
        found = fetch_all(program, case, places)
    except AssertionError as error:
        return str(error)
    wanted = np.array(expected(case, places))
    same = np.isclose(found[:, : wanted.shape[1]], wanted, *_tolerances(case)).all(axis=1)
    if np.sum(~same) <= (_OTHER_LEVELS if case.function == "tex3DGrad" else 0):
        return None
    row = int(np.argmin(same))
    place = ", ".join(f"{n:g}" for n in places[row])
    return (
        f"{case.name}: {np.sum(~same)} of {len(same)} differ, first at ({place}): {found[row]}, expected {wanted[row]}"
    )


def test_fetches(program: ctypes.CDLL) -> None:
    wrong = [text for case in cases() if (text := _difference(program, case))]
    assert not wrong, f"{len(wrong)} cases differ:\n" + "\n".join(wrong)


def test_surfaces(program: ctypes.CDLL) -> None:
    wrong = []
    for move in moves():
        found, wanted = run_move(program, move)
        if not np.array_equal(found, wanted):
            wrong.append(move.case.name)
    assert wrong == []


def test_calls_about_arrays(program: ctypes.CDLL) -> None:  # noqa: ARG001 (it makes the context)
    assert ctypes.CDLL(str(build_with_nvcc(PROGRAMS / "faults.cu", *SHARED_LIBRARY))).run_calls() == 0
