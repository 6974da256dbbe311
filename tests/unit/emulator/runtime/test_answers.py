"""The answers of the runtime API, one by one, are those of a GPU's (tests/gpu/test_runtime_answers.py asks one)."""

from __future__ import annotations

from pathlib import Path

import pytest

from emulator import native
from tests.unit.emulator.runtime.answers import EXPECTED, answers, build, differences
from tests.unit.emulator.standalone.conftest import CACHE, emulate

pytestmark = pytest.mark.nvcc


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    native.ensure(CACHE)
    return build(tmp_path_factory.mktemp("answers") / "answers", "-cudart", "shared")


@pytest.mark.parametrize("part", EXPECTED)
def test_a_part_of_the_api(program: Path, part: str) -> None:
    printed = emulate("--output", "/dev/null", program, part).stdout
    assert not differences(EXPECTED[part], answers(part, printed))
