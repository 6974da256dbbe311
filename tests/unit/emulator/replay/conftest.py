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

from emulator import native
from emulator.replay import Recording
from tests.unit.emulator.runtime.conftest import NVCC, ROOT

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
        module = "tests.unit.emulator.replay.processes"
        command = [sys.executable, "-m", module, what, self.library, self.program, self.folder, *arguments]
        subprocess.run(command, check=True, cwd=ROOT, timeout=120)
        answer: dict[str, Any] = json.loads((self.folder / f"{what}ed.json").read_text())
        return answer


def values(answer: dict[str, Any]) -> Any:
    """The output."""
    return np.frombuffer(bytes.fromhex(answer["values"]), np.float32)


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("recorded")

    def build(name: str) -> Path:
        out = folder / f"{name}.so"
        if not out.exists():
            subprocess.run([*NVCC, str(PROGRAMS / f"{name}.cu"), "-o", str(out)], check=True)
        return out

    return build


@pytest.fixture(scope="session")
def library() -> Path:
    return native.ensure(ROOT / ".cache" / "emulator-native")


@pytest.fixture
def pair(library: Path, build: Callable[[str], Path], tmp_path: Path) -> Pair:
    return Pair(library, build("asks"), tmp_path)
