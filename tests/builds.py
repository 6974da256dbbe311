"""Builds for tests: made once a checkout, kept in ``.cache`` by their inputs, and shared by all test processes."""

from __future__ import annotations

import fcntl
import functools
import hashlib
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache"
#: Native libraries. ``tests/conftest.py`` names this folder in the environment, for all processes that tests start.
LIBRARIES = CACHE / "libraries"
#: Programs that nvcc built.
PROGRAMS = CACHE / "programs"
#: What the judge built of submissions.
SUBMISSIONS = CACHE / "submissions"

#: As the judge builds submissions.
SHARED_LIBRARY = (
    *("-std=c++17", "-O3", "-lineinfo", "-Xcompiler", "-fPIC", "-shared", "-cudart", "shared"),
    *("--compress-mode=none", "-gencode", "arch=compute_80,code=compute_80"),
)


def emulator_library() -> Path:
    """Returns the path of the emulator's ``libcudart``; builds it first if it is missing."""
    from emulator import native

    return native.ensure(LIBRARIES)


def build_with_nvcc(source: Path, *flags: str, suffix: str = ".so") -> Path:
    """Returns the path of what nvcc makes of ``source`` with these flags; runs nvcc only if nobody did before.

    The file is named by a hash of nvcc's version, the flags and all sources beside ``source`` and below it,
    which it may include.
    Raises subprocess.CalledProcessError.
    """
    digest = hashlib.sha256("\0".join((_nvcc_version(), source.name, *flags)).encode())
    for file in sorted(source.parent.rglob("*.c*")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    target = PROGRAMS / f"{source.stem}-{digest.hexdigest()[:20]}{suffix}"
    with built_once(target):
        if not target.exists():
            unfinished = target.with_suffix(f".tmp{suffix}")
            subprocess.run(["nvcc", *flags, str(source), "-o", str(unfinished)], check=True)
            unfinished.replace(target)
    return target


@contextmanager
def built_once(target: Path) -> Iterator[None]:
    """Holds the lock under which ``target`` is built, so that of several processes one builds and the others wait."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        yield
        return
    with target.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@functools.cache
def _nvcc_version() -> str:
    return subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout
