"""Lines that leave the named part of dynamic shared memory: reported for wrong kernels, and for no others."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

from emulator.shared_parts import Overrun, find_overruns
from tests.builds import SHARED_LIBRARY, build_with_nvcc
from tests.emulated_device import Device
from tests.shared_parts import HONEST, WRONG

pytestmark = [
    pytest.mark.nvcc,
    pytest.mark.exhaustive,
    pytest.mark.recorded("tests/shared_parts", "tests/emulated_device.py"),
]
COUNT = 1000


def overruns_of(device: Device, file: Path) -> tuple[tuple[Overrun, ...], bool]:
    """Runs the kernel; returns its messages, and whether its sums are right."""
    device.limit(checks="full")
    program = ctypes.CDLL(str(build_with_nvcc(file, *SHARED_LIBRARY)))
    a, a_values = device.array(np.arange(1, COUNT + 1))
    b, b_values = device.array(3 * np.arange(1, COUNT + 1))
    sums, found = device.array(COUNT)

    program.solve(a, b, sums, COUNT)

    device.runtime.synchronize()
    report = device.runtime.take_report()
    assert not report.memory_faults
    overruns = find_overruns(report.extents, {extent.file: file.read_text() for extent in report.extents})
    return overruns, bool((found == a_values + b_values).all())


@pytest.mark.parametrize("file", WRONG, ids=lambda file: file.stem)
def test_a_wrong_kernel(device: Device, file: Path) -> None:
    lines = file.read_text().splitlines()
    ((line, part),) = (
        (number, text.rpartition("// wrong: ")[2]) for number, text in enumerate(lines, 1) if "// wrong: " in text
    )

    (overrun,), is_right = overruns_of(device, file)

    assert not is_right
    assert (overrun.line, overrun.part, overrun.is_past_end) == (line, part, "before" not in file.stem)
    assert re.search(rf"{file.name}:{line} in .*add.*, thread \(\d+,0,0\) of block", overrun.message)


@pytest.mark.parametrize("file", HONEST, ids=lambda file: file.stem)
def test_an_honest_kernel(device: Device, file: Path) -> None:
    overruns, is_right = overruns_of(device, file)

    assert is_right
    # What is deliberate looks the same: where the program fails, the message helps, and nowhere else is it told.
    assert [overrun.part for overrun in overruns] == (["tile"] if file.stem == "halo_in_the_next_part" else [])
