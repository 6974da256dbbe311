"""One probe a marker: None when this machine has what the marked tests need, otherwise what is missing."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path


def find_chromium() -> str | None:
    """The browser binary that browser tests drive."""
    named = os.environ.get("GPUJUDGE_TEST_CHROMIUM")
    if named:
        return named if Path(named).exists() else None
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next((found for name in names if (found := shutil.which(name))), None)


def _browser() -> str | None:
    return None if find_chromium() else "Chromium is not installed (apt-get install chromium)"


def _jail() -> str | None:
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (apt-get install bubblewrap)"
    argv = ["bwrap", "--unshare-all", "--unshare-user", "--ro-bind", "/", "/", "--proc", "/proc", "/bin/true"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=20)
    return None if done.returncode == 0 else f"bubblewrap cannot make a jail here: {done.stderr.strip()}"


def _nvcc() -> str | None:
    from judge.compile.toolchain import find_toolchain
    from judge.errors import ToolchainMissing

    try:
        find_toolchain()
    except ToolchainMissing as error:
        return str(error)
    return None


def _cxx() -> str | None:
    return None if shutil.which("g++") else "g++ is not installed (apt-get install g++)"


def _gpu() -> str | None:
    code = "import pycuda.driver as d; d.init(); import sys; sys.exit(0 if d.Device.count() else 'no device')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    return None if done.returncode == 0 else f"no usable NVIDIA GPU: {(done.stderr.strip() or '?').splitlines()[-1]}"


def _triton() -> str | None:
    from judge.languages.registry import BUILTIN_LANGUAGES

    return BUILTIN_LANGUAGES.of("triton").missing() or None


#: PostgreSQL and Redis are not here: asking for them starts them, so their fixtures decide.
PROBES: dict[str, Callable[[], str | None]] = {
    "browser": functools.cache(_browser),
    "jail": functools.cache(_jail),
    "nvcc": functools.cache(_nvcc),
    "cxx": _cxx,
    "triton": _triton,
    "gpu": functools.cache(_gpu),
}
