"""Registers of a thread: of machine code, or by ptxas."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from emulator.runtime.registers import UNREADABLE, RegisterCounts, cubin_registers
from tests.unit.emulator.jit.conftest import fat_binary
from tests.unit.emulator.profile.conftest import FRAME


@pytest.mark.nvcc
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_registers_of_machine_code(tmp_path: Path, architecture: str) -> None:
    source, out = tmp_path / "kernel.ptx", tmp_path / "kernel.cubin"
    source.write_text(FRAME.format(body=""))
    command = ["ptxas", "-v", f"-arch={architecture}", str(source), "-o", str(out)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    used = re.search(r"Used (\d+) registers", said)
    assert used

    assert cubin_registers(out.read_bytes()) == {"kernel": int(used[1])}


@pytest.mark.parametrize("damaged", [b"", b"MZ" * 40, b"\x7fELF\x02" + bytes(20), b"\x7fELF\x02" + b"\xff" * 59])
def test_what_is_no_machine_code(damaged: bytes) -> None:
    with pytest.raises(UNREADABLE):
        cubin_registers(damaged)


@pytest.mark.nvcc
def test_registers_by_ptxas() -> None:
    counts = RegisterCounts(fat_binary(FRAME.format(body="")))

    assert counts.of("kernel", ask_ptxas=False) is None
    registers = counts.of("kernel", ask_ptxas=True)
    assert registers is not None
    assert 2 <= registers <= 32


def test_registers_without_ptxas(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("ptxas") is None

    assert RegisterCounts(fat_binary(FRAME.format(body=""))).of("kernel", ask_ptxas=True) is None
