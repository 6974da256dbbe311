"""What the emulator's tests expect the runtime API to answer, on a real GPU."""

from __future__ import annotations

import subprocess

import pytest

from tests.unit.emulator.runtime.answers import EXPECTED, Lines, ask_all, build, differences

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Lines]:
    program = build(tmp_path_factory.mktemp("answers") / "answers")

    def run(part: str) -> str:
        return subprocess.run([program, part], stdout=subprocess.PIPE, text=True, timeout=60, check=False).stdout

    return ask_all(run)


@pytest.mark.parametrize("part", EXPECTED)
def test_a_part_of_the_api(answers: dict[str, Lines], part: str) -> None:
    assert not differences(EXPECTED[part], answers[part])
