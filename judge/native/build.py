"""Builds and loads the native library, where there is a compiler."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from pathlib import Path

from emulator.cxx import NativeBuildError
from judge.native import library
from judge.native.cxx import LIBRARY

_log = logging.getLogger(__name__)


def prepare(data_dir: Path, say: Callable[[str], None] = lambda _: None) -> None:
    """Builds the library in the data folder if it is not there, and has this process use it from now on.

    A build takes some two seconds. Without a compiler a warning says why, once, and NumPy does the work. ``say`` gets a
    message before a build.
    """
    folder = data_dir / "native"
    if library.loaded() is None:
        if LIBRARY.brought() is None and not any(folder.glob(f"*/{LIBRARY.name}")):
            say("compiling the library that makes inputs and digests (once; a few seconds)")
        _prepare(folder)


@functools.cache
def _prepare(folder: Path) -> None:
    try:
        library.load(LIBRARY.ensure(folder))
    except (NativeBuildError, OSError) as error:
        _log.warning("inputs are made by NumPy, which takes longer: no native library: %s", error)
