"""Registers of a thread: of machine code, or by ptxas."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from emulator.runtime.registers import UNREADABLE, RegisterCounts, cubin_registers
from tests.unit.emulator.jit.conftest import fat_binary
from tests.unit.emulator.profile.conftest import FRAME


@pytest.mark.parametrize("damaged", [b"", b"MZ" * 40, b"\x7fELF\x02" + bytes(20), b"\x7fELF\x02" + b"\xff" * 59])
def test_what_is_no_machine_code(damaged: bytes) -> None:
    with pytest.raises(UNREADABLE):
        cubin_registers(damaged)


def test_registers_without_ptxas(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("ptxas") is None

    assert RegisterCounts(fat_binary(FRAME.format(body=""))).of("kernel", ask_ptxas=True) is None
