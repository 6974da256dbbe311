"""The imports of test files by several processes, each of which begins with another part of them.

pytest rewrites the ``assert`` of a file that is new, and keeps what it made beside it. That takes longer than all else
of a collection in a fresh checkout. Processes that went through the files in the same order would all do all of it.
"""

from __future__ import annotations

import contextlib
import importlib
from pathlib import Path

import pytest


def import_files(config: pytest.Config) -> None:
    """Imports the test files below the folders that the session was given, if it is one of xdist's processes.

    What a file raises is raised again where pytest imports it.
    """
    given = getattr(config, "workerinput", None)
    if given is None:
        return
    folders = [folder for argument in config.args if (folder := config.rootpath / argument).is_dir()]
    files = sorted(file for folder in folders for file in folder.rglob("test_*.py"))
    for file in own_part_first(files, int(given["workerid"].removeprefix("gw")), given["workercount"]):
        with contextlib.suppress(Exception, pytest.skip.Exception):
            importlib.import_module(".".join(file.relative_to(config.rootpath).with_suffix("").parts))


def own_part_first(files: list[Path], process: int, processes: int) -> list[Path]:
    """Returns the files from the process's own part on, and then those before it."""
    begin = process % processes * len(files) // processes
    return files[begin:] + files[:begin]
