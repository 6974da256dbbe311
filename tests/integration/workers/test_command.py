"""``python -m workers`` as a command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def command(tmp_path: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "workers", *argv],
        cwd=ROOT,
        env={**os.environ, "GPUJUDGE_DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_wrong_usage(tmp_path: Path) -> None:
    for argv in ((), ("sweep",), ("device",)):
        done = command(tmp_path, *argv)
        assert done.returncode == 2
        assert "usage: python -m workers" in done.stderr


def test_an_unknown_device_is_named_with_the_nearest(tmp_path: Path) -> None:
    done = command(tmp_path, "device", "--device", "emulatr")
    assert done.returncode == 1
    said = json.loads(done.stderr.splitlines()[-1])
    assert said["event"] == "worker.cannot_start"
    assert "emulator" in said["reason"]
    assert "Traceback" not in done.stderr
