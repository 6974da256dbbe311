"""``python -m emulator``, which runs whole programs."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.builds import LIBRARIES, ROOT


@dataclass(frozen=True)
class Run:
    """One run of the command. ``report`` is the text on stderr, or what ``--format=json`` gave."""

    exit_code: int
    stdout: str
    stderr: str
    report: Any = None

    @property
    def kinds(self) -> list[str]:
        """Of the problems of all processes."""
        return [finding["kind"] for process in self.report["processes"] for finding in process["problems"]]

    @property
    def problems(self) -> dict[str, dict[str, Any]]:
        """By kind, the last of each."""
        return {f["kind"]: f for process in self.report["processes"] for f in process["problems"]}


def emulate(*arguments: str | Path, cwd: Path | None = None, environment: dict[str, str] | None = None) -> Run:
    """``python -m emulator`` with these arguments."""
    command = [sys.executable, "-m", "emulator", "--cache", str(LIBRARIES), *map(str, arguments)]
    given = {**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})}
    done = subprocess.run(command, capture_output=True, text=True, env=given, cwd=cwd, timeout=120, check=False)
    return Run(done.returncode, done.stdout, done.stderr)
