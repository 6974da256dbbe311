"""The answers of the runtime API, one by one, are those of a GPU's (tests/gpu/test_runtime_answers.py asks one)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emulated_programs import emulate
from tests.integration.emulator.runtime.answers import EXPECTED, answers, build, differences

pytestmark = [
    pytest.mark.nvcc,
    pytest.mark.recorded("tests/integration/emulator/runtime", "tests/emulated_programs.py"),
]


@pytest.fixture(scope="module")
def program(library: Path) -> Path:  # noqa: ARG001 (which may take longer to build than a program is given)
    return build("-cudart", "shared")


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", EXPECTED)
def test_a_part_of_the_api(program: Path, part: str) -> None:
    printed = emulate("--output", "/dev/null", program, part).stdout
    assert not differences(EXPECTED[part], answers(part, printed))
