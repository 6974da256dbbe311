"""One whole gpujudge, as `gpujudge up` starts it, for the tests of this folder."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.stack import Stack, running_stack
from judge.settings import JudgeSettings


@pytest.fixture(scope="session")
def new_data_dir(judge_settings: JudgeSettings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder in which nothing is but the emulator, which takes half a minute to compile."""
    from emulator import native

    native.ensure(judge_settings.data_dir / "emulator")
    folder = tmp_path_factory.mktemp("up") / "data"
    shutil.copytree(judge_settings.data_dir / "emulator", folder / "emulator")
    return folder


@pytest.fixture(scope="module")
def stack(new_data_dir: Path) -> Iterator[Stack]:
    with running_stack(new_data_dir) as running:
        yield running
