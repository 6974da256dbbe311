"""NVIDIA's assembler takes the hand-written and the generated PTX that the emulator is tested with."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.integration.emulator.jit.assembler import TARGETS, refusal
from tests.unit.emulator.scalar import programs
from tests.unit.emulator.scalar.batches import batches, module

pytestmark = pytest.mark.nvcc

EXAMPLES = int(os.environ.get("GPUJUDGE_TEST_EXAMPLES", "0"))


@pytest.mark.parametrize("target", TARGETS)
def test_the_generated_programs_are_ptx(tmp_path: Path, target: str) -> None:
    """The very module that ``tests/gpu/test_instructions.py`` loads."""
    assert refusal(programs.module(programs.numbered(EXAMPLES or programs.ON_GPU)), target, tmp_path) == ""


@pytest.mark.parametrize("target", TARGETS)
def test_the_instructions_are_ptx(tmp_path: Path, target: str) -> None:
    assert refusal(module(batches()), target, tmp_path) == ""
