"""Shared libraries of C++ that are compiled on the machine that uses them, by its own compiler, for its own CPU."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

#: Of every library. Floating-point results are the same with any compiler, on any CPU: nothing is fused.
_FLAGS = (
    *("-std=c++20", "-O2", "-march=native", "-ffp-contract=off", "-pthread"),
    *("-fPIC", "-fvisibility=hidden", "-Wall"),
)


class NativeBuildError(Exception):
    """The library cannot be built; the message says what to install, or what the compiler said."""


@dataclass(frozen=True, slots=True)
class CxxLibrary:
    """One library, made of all ``*.cpp`` in ``sources``. ``flags`` and ``link`` come after those of every library, the
    latter for linking alone; ``exports`` is the version script in ``sources`` that says what can be seen from outside.
    ``depends`` is what matters of the headers in ``include``."""

    name: str
    sources: Path
    flags: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    exports: str | None = None
    include: Path | None = None
    depends: bytes = b""

    def ensure(self, folder: Path) -> Path:
        """The path of the library under ``folder``, built first when it is not there.

        Its folder is named by a hash of sources, compiler, flags and CPU, so that a stale one is never used. Safe with
        any number of concurrent callers, in this process and others: one builds, the others wait. Raises
        ``NativeBuildError``.
        """
        compiler = _compiler()
        target = folder / self._key(compiler)
        library = target / self.name
        if library.exists():
            return library
        target.mkdir(parents=True, exist_ok=True)
        with _locked(target / "lock"):
            if not library.exists():
                self._build(compiler, library)
        return library

    def _key(self, compiler: str) -> str:
        digest = hashlib.sha256()
        for source in sorted(self.sources.iterdir()):
            if source.is_file():
                digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
        version = subprocess.run([compiler, "--version"], capture_output=True, check=False).stdout
        # No folder is among these: a checkout that is moved keeps its library.
        flags = map(str.encode, (*_FLAGS, *self.flags, *self.link))
        for part in (*flags, version, self.depends, platform.machine().encode(), _cpu_features()):
            digest.update(hashlib.sha256(part).digest())
        return digest.hexdigest()[:16]

    def _build(self, compiler: str, library: Path) -> None:
        sources = sorted(self.sources.glob("*.cpp"))
        command = [compiler, *_FLAGS, *self.flags]
        including = [f"-I{self.include}"] if self.include else []
        link = [f"-Wl,--version-script={self.sources / self.exports}"] if self.exports else []
        with tempfile.TemporaryDirectory(dir=library.parent, prefix="build-") as scratch:
            objects = [Path(scratch) / f"{source.stem}.o" for source in sources]
            commands = [
                [*command, *including, "-c", str(source), "-o", str(made)]
                for source, made in zip(sources, objects, strict=True)
            ]
            with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
                list(pool.map(_run, commands))
            finished = Path(scratch) / self.name
            _run([*command, "-shared", *map(str, objects), *link, *self.link, "-o", str(finished)])
            finished.replace(library)


def _compiler() -> str:
    for name in (os.environ.get("CXX"), "g++", "clang++"):
        found = shutil.which(name) if name else None
        if found:
            return found
    raise NativeBuildError("no C++ compiler is found: install g++ (`apt install g++`)")


def _cpu_features() -> bytes:
    # -march=native: a library built on one CPU may not run on another that shares the folder.
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_bytes().splitlines():
            if line.startswith((b"flags", b"Features")):
                return line
    return platform.processor().encode()


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise NativeBuildError(f"{' '.join(command)} failed:\n{done.stderr[-4000:]}")
