"""Registers of a thread: of machine code that ptxas made, or as ptxas counts them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from emulator.runtime.registers import RegisterCounts, cubin_registers
from tests.unit.emulator.jit.conftest import fat_binary
from tests.unit.emulator.profile.conftest import FRAME

pytestmark = pytest.mark.nvcc


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_registers_of_machine_code(tmp_path: Path, architecture: str) -> None:
    source, out = tmp_path / "kernel.ptx", tmp_path / "kernel.cubin"
    source.write_text(FRAME.format(body=""))
    command = ["ptxas", "-v", f"-arch={architecture}", str(source), "-o", str(out)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    used = re.search(r"Used (\d+) registers", said)
    assert used

    assert cubin_registers(out.read_bytes()) == {"kernel": int(used[1])}


def test_registers_by_ptxas() -> None:
    counts = RegisterCounts(fat_binary(FRAME.format(body="")))

    assert counts.of("kernel", ask_ptxas=False) is None
    registers = counts.of("kernel", ask_ptxas=True)
    assert registers is not None
    assert 2 <= registers <= 32
