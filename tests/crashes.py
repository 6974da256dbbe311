"""The report of a crash (a signal such as SIGSEGV) that ends a process of xdist.

``faulthandler`` writes the frames of all threads. Each process has a file for it, so that the report stands in one
piece in the output of the session, not between the dots of the others.
"""

from __future__ import annotations

import faulthandler
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController

#: What xdist's processes are given: the path of the file.
_FILE = "crash_file"


def configure_process(node: WorkerController) -> None:
    """Gives a process of xdist a file."""
    opened, path = tempfile.mkstemp(prefix="gpujudge-test-crash-")
    os.close(opened)
    node.workerinput[_FILE] = path


def start(config: pytest.Config) -> None:
    """Lets faulthandler write to the file that this process was given, not to the error stream as pytest has it."""
    if file := getattr(config, "workerinput", {}).get(_FILE):
        faulthandler.enable(os.open(file, os.O_WRONLY))


def report(node: WorkerController, error: object) -> None:
    """Prints what the process wrote, if it crashed; xdist then names the test that it was running."""
    file = Path(node.workerinput[_FILE])
    frames = file.read_text(errors="replace")
    file.unlink()
    if error and frames:
        node.config.get_terminal_writer().write(f"\n== {node.gateway.id} crashed\n{frames}\n")
