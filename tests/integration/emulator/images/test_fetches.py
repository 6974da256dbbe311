"""Every kind of texture fetch gives what a plain evaluation gives, and surfaces move texels."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulated_device import Device
from tests.integration.emulator.images.model import Case, cases, expected, fetch_all
from tests.integration.emulator.images.moves import Move, moves, run_move
from tests.integration.emulator.runtime.conftest import Build

pytestmark = [pytest.mark.nvcc, pytest.mark.recorded("tests/integration/emulator/images", "tests/emulated_device.py")]


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case.name)
def test_fetches(device: Device, build: Build, case: Case) -> None:
    program = build("fetches")
    places = case.coordinates()
    found = fetch_all(program, case, places)
    wanted = np.array(expected(case, places))
    np.testing.assert_allclose(found[:, : wanted.shape[1]], wanted, rtol=1e-6, atol=1e-6)
    assert device.runtime.take_report().findings == ()


@pytest.mark.exhaustive
@pytest.mark.parametrize("move", list(moves()), ids=lambda move: move.case.name)
def test_surfaces(device: Device, build: Build, move: Move) -> None:
    found, wanted = run_move(build("fetches"), move)
    assert np.array_equal(found, wanted)
    assert device.runtime.take_report().findings == ()
