"""Programs that are recorded in one process and done again in another."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emulator.replay.recording import Recording
from tests.builds import ROOT, SHARED_LIBRARY, build_with_nvcc

PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True)
class Pair:
    """A recording, and the folder in which the two processes leave what they have to say."""

    library: Path
    program: Path
    folder: Path

    def record(self, function: str) -> dict[str, Any]:
        return self._run("record", function)

    def replay(self) -> dict[str, Any]:
        return self._run("replay")

    @property
    def recording(self) -> Recording:
        return Recording.unpack((self.folder / "recording").read_bytes())

    def _run(self, what: str, *arguments: str) -> dict[str, Any]:
        module = "tests.integration.emulator.replay.processes"
        command = [sys.executable, "-m", module, what, self.library, self.program, self.folder, *arguments]
        subprocess.run(command, check=True, cwd=ROOT, timeout=120)
        answer: dict[str, Any] = json.loads((self.folder / f"{what}ed.json").read_text())
        return answer


def values(answer: dict[str, Any]) -> Any:
    """The output."""
    return np.frombuffer(bytes.fromhex(answer["values"]), np.float32)


@pytest.fixture(scope="session")
def build() -> Callable[[str], Path]:
    return lambda name: build_with_nvcc(PROGRAMS / f"{name}.cu", *SHARED_LIBRARY)


@pytest.fixture
def pair(library: Path, build: Callable[[str], Path], tmp_path: Path) -> Pair:
    return Pair(library, build("asks"), tmp_path)
