"""Fat binaries as nvcc makes them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from emulator.runtime import fatbinary
from tests.integration.emulator.runtime.conftest import PROGRAMS

pytestmark = pytest.mark.nvcc


@pytest.mark.parametrize("mode", ["none", "default", "speed", "size"])
def test_what_nvcc_makes(tmp_path: Path, mode: str) -> None:
    out = tmp_path / "faults.fatbin"
    targets = [f"-gencode=arch=compute_{version},code=compute_{version}" for version in (80, 90)]
    command = ["nvcc", "-fatbin", f"--compress-mode={mode}", *targets, str(PROGRAMS / "faults.cu"), "-o", str(out)]
    subprocess.run(command, check=True)

    image = fatbinary.choose(fatbinary.ptx_images(out.read_bytes()), 80)

    assert image is not None
    assert image.architecture == 80
    assert ".target sm_80" in image.text
    assert image.text.rstrip().endswith("}")
