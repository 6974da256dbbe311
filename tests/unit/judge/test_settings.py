from __future__ import annotations

import json
from pathlib import Path

from judge.settings import JudgeSettings


def test_settings_reach_another_process() -> None:
    given = JudgeSettings(
        Path("/data"), nvcc=Path("/opt/nvcc"), jail="off", emulator_threads=3, locks_dir=Path("/locks"), precision=0.02
    )
    assert JudgeSettings.from_json(json.loads(json.dumps(given.to_json()))) == given


def test_paths_that_are_searched_for_stay_so() -> None:
    given = JudgeSettings(Path("/data"))
    assert JudgeSettings.from_json(given.to_json()) == given
