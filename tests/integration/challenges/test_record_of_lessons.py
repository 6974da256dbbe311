"""The digest of a judged lesson is the same in every process, or no lesson would ever be on record."""

from __future__ import annotations

import subprocess
import sys

from tests.builds import ROOT

_PROGRAM = """
from tests.integration.challenges.test_lessons import STEPS, depends_on
print({name: depends_on(step, "") for name, step in STEPS.items()})
"""


def test_what_a_lesson_depends_on_is_the_same_in_every_process() -> None:
    command = [sys.executable, "-c", _PROGRAM]
    one, other = (subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout for _ in "12")
    assert one.startswith("{'")
    assert one == other
