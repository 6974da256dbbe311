#!/usr/bin/env python3
"""Runs clang-tidy over the C++ of the emulator and the judge; `.clang-tidy` has the checks.

    make tidy                                       installs clang-tidy (150 MB) first, so CI does not run it
    .venv/bin/python scripts/tidy.py [PART OF A PATH]...

Exits with 1 where something is found.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from emulator.cxx import CxxLibrary  # noqa: E402
from emulator.native import library  # noqa: E402
from judge.native.cxx import LIBRARY  # noqa: E402

TIDY = Path(sys.executable).with_name("clang-tidy")


def main(parts: list[str]) -> int:
    """Checks the sources whose paths have one of the parts, all if there are none. Returns the exit status."""
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        found = ""
        for each in (library(), LIBRARY):
            flags = _flags(each, Path(scratch))
            sources = sorted(path for path in each.sources.rglob("*.cpp"))
            chosen = [path for path in sources if not parts or any(part in str(path) for part in parts)]
            for findings in pool.map(lambda path, flags=flags: _check(path, flags), chosen):
                found += findings
                print(findings, end="", flush=True)
    return int(bool(found))


def _flags(built: CxxLibrary, scratch: Path) -> list[str]:
    """Returns the compiler's flags for a library, whose generated headers it writes to ``scratch``."""
    for path, text in built.generated:
        header = scratch / path
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text(text)
    flags = ["-std=c++20", "-march=native", "-iquote", str(built.sources), "-iquote", str(scratch)]
    return flags + (["-isystem", str(built.include)] if built.include else [])


def _check(source: Path, flags: list[str]) -> str:
    command = [str(TIDY), "--quiet", str(source), "--", *flags]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    return ended.stdout or (ended.stderr if ended.returncode else "")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
