"""Builds and loads the native library, where there is a compiler."""

from __future__ import annotations

import functools
import logging
from pathlib import Path

from emulator.cxx import NativeBuildError
from judge.native import library
from judge.native.cxx import LIBRARY

_log = logging.getLogger(__name__)


def prepare(folder: Path) -> None:
    """Builds the library under ``folder`` when it is not there (some two seconds), and has this process use it from now
    on. Without a compiler a warning says why, once, and NumPy does the work."""
    if library.loaded() is None:
        _prepare(folder)


@functools.cache
def _prepare(folder: Path) -> None:
    try:
        library.load(LIBRARY.ensure(folder))
    except (NativeBuildError, OSError) as error:
        _log.warning("inputs are made by NumPy, which takes longer: no native library: %s", error)
