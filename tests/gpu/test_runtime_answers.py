"""The runtime API on a real GPU gives the answers that the emulator's tests expect."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.integration.emulator.runtime.answers import EXPECTED, answers, build, differences

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def program() -> Path:
    return build()


@pytest.mark.parametrize("part", EXPECTED)
def test_a_part_of_the_api(program: Path, part: str) -> None:
    printed = subprocess.run([program, part], stdout=subprocess.PIPE, text=True, timeout=60, check=False).stdout
    assert not differences(EXPECTED[part], answers(part, printed))
