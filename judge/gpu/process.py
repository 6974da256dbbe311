"""Starts trusted processes that use a GPU: servers and workers must not have a driver's threads and contexts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_HOME = str(Path(__file__).resolve().parents[2])


def own_process(module: str, *arguments: str) -> tuple[list[str], dict[str, str]]:
    """Returns the command and the environment that run one of our modules with this interpreter and its packages."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([_HOME, *filter(None, sys.path)])}
    return [sys.executable, "-m", module, *arguments], environment
