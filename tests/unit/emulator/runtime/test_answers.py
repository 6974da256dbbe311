"""The answers of the runtime API, one by one, are those of a GPU's (tests/gpu/test_runtime_answers.py asks one)."""

from __future__ import annotations

import pytest

from emulator import native
from tests.unit.emulator.runtime.answers import EXPECTED, Lines, ask_all, build, differences
from tests.unit.emulator.standalone.conftest import CACHE, emulate

pytestmark = pytest.mark.nvcc


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Lines]:
    native.ensure(CACHE)
    program = build(tmp_path_factory.mktemp("answers") / "answers", "-cudart", "shared")
    return ask_all(lambda part: emulate("--output", "/dev/null", program, part).stdout)


@pytest.mark.parametrize("part", EXPECTED)
def test_a_part_of_the_api(answers: dict[str, Lines], part: str) -> None:
    assert not differences(EXPECTED[part], answers[part])
