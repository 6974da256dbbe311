"""Processes that ``gpujudge judge`` starts ahead end with it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli import main
from judge.packs.isolation import fork_server

_MARK = "GPUJUDGE_TEST_MARK"


def _marked(mark: str) -> list[int]:
    """Returns the processes that inherited the mark."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                environment = (folder / "environ").read_bytes()
            except OSError:  # it has ended
                continue
            if f"{_MARK}={mark}".encode() in environment.split(b"\0"):
                found.append(int(folder.name))
    return found


def test_nothing_is_left_of_a_command_that_fails_at_once(tmp_path: Path) -> None:
    mark = tmp_path.name
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", "judge", str(tmp_path / "nothing.cu"), "--challenge", "softmax"],
        env={**os.environ, _MARK: mark},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2, done.stderr
    assert "nothing.cu" in done.stderr
    until_s = time.monotonic() + 30
    while left := _marked(mark):
        assert time.monotonic() < until_s, f"left behind: {left}"
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("argv", "starts"),
    [
        (["judge", "k.cu"], True),
        (["compare", "a.cu", "b.cu"], True),
        (["judge", "--help"], False),
        (["submit", "k.cu"], False),
        ([], False),
    ],
)
def test_only_a_judgement_starts_anything(argv: list[str], starts: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[bool] = []
    monkeypatch.setattr(fork_server, "start_early", lambda: started.append(True))
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    main._start_ahead(argv)
    assert bool(started) is starts
