"""Keeps artifacts on disk, so that a kernel is compiled once.

A folder of files, each named by a hash of everything that its code depends on. Any number of processes may share it:
a file appears whole or not at all, and contains a checksum. Whoever can write to the folder decides what code runs in
the processes that read it, so it must not be shared between users who do not trust each other.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import re
import time
from dataclasses import field
from pathlib import Path

from emulator.jit.artifact import Artifact, ArtifactError
from emulator.jit.options import Options
from records import dataclass

_DEFAULT_MAX_BYTES = 256 << 20
_SOURCES = Path(__file__).parents[1]
_SUFFIX = ".kernel"
_STALE_S = 3600  # a temporary file this old is of a process that died


@dataclass(frozen=True, slots=True)
class KernelKey:
    """The key of machine code, without the emulator and the CPU. ``ptx``: a hash of the module's text."""

    ptx: bytes
    entry: str
    block: tuple[int, int, int]
    options: Options


@dataclass(slots=True)
class Cache:
    """``folder`` is made when it is missing. When its files exceed ``most_bytes``, the oldest go."""

    folder: Path
    most_bytes: int = _DEFAULT_MAX_BYTES
    _identity: bytes = field(init=False)
    _written: int = field(init=False, default=0)  # bytes since files were last counted

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._identity = b"\0".join((_source_digest(), _llvm_version(), _cpu()))
        self._written = self.most_bytes  # what is there is counted at the first store

    def load(self, key: KernelKey) -> Artifact | None:
        """Returns the artifact; None if there is none. Removes a damaged one."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        try:
            artifact = Artifact.from_bytes(data)
        except ArtifactError:
            self.remove(key)
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # its age is the time since it was last of use
        return artifact

    def store(self, key: KernelKey, artifact: Artifact) -> None:
        """Stores or replaces the artifact. Ignores a full or read-only disk: it is only a cache."""
        # Only here: most processes find what they need, and each of them would wait for the import.
        import tempfile

        data = artifact.to_bytes()
        with contextlib.suppress(OSError):
            handle, name = tempfile.mkstemp(dir=self.folder, prefix="new-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                os.replace(name, self._path(key))  # noqa: PTH105 -- of a name, not of a Path
            except BaseException:
                os.unlink(name)  # noqa: PTH108
                raise
            self._written += len(data)
            if self._written >= self.most_bytes // 16:
                self._written = 0
                self._evict()

    def remove(self, key: KernelKey) -> None:
        with contextlib.suppress(OSError):
            self._path(key).unlink()

    def _path(self, key: KernelKey) -> Path:
        digest = hashlib.sha256(self._identity)
        digest.update(repr((key.ptx, key.entry, key.block, key.options)).encode())
        return self.folder / (digest.hexdigest()[:40] + _SUFFIX)

    def _evict(self) -> None:
        """Removes the oldest files until the rest fits. Other processes may do the same at the same time."""
        kept: list[tuple[float, int, str]] = []
        now = time.time()
        with os.scandir(self.folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    stat = entry.stat(follow_symlinks=False)
                    if entry.name.endswith(_SUFFIX):
                        kept.append((stat.st_mtime, stat.st_size, entry.path))
                    elif entry.name.startswith("new-") and now - stat.st_mtime > _STALE_S:
                        os.unlink(entry.path)  # noqa: PTH108
        excess = sum(size for _, size, _ in kept) - self.most_bytes
        for _, size, path in sorted(kept):
            if excess <= 0:
                break
            with contextlib.suppress(OSError):
                os.unlink(path)  # noqa: PTH108
            excess -= size


def _source_digest() -> bytes:
    """Hashes the sources that decide what code is generated, and those of the library that it calls."""
    digest = hashlib.sha256()
    # Every process that emulates waits for this, and Path.rglob takes three times as long.
    for top in ("ptx", "jit", "profile", "native"):
        for folder, folders, names in os.walk(f"{_SOURCES}/{top}"):
            folders.sort()
            within = folder.removeprefix(f"{_SOURCES}/")
            for name in sorted(names):
                if name.endswith((".py", ".h", ".cpp")):
                    content = hashlib.sha256(Path(folder, name).read_bytes()).digest()
                    digest.update(f"{within}/{name}".encode() + b"\0" + content)
    return digest.digest()


def _llvm_version() -> bytes:
    """Identifies llvmlite's release, and so its LLVM, without loading it."""
    found = importlib.util.find_spec("llvmlite")
    if found is None or not found.origin:
        return b""
    with contextlib.suppress(OSError):
        return hashlib.sha256((Path(found.origin).parent / "_version.py").read_bytes()).digest()
    return b""


def _cpu() -> bytes:
    """Identifies the CPU by model and features, as the operating system reports them."""
    with contextlib.suppress(OSError), Path("/proc/cpuinfo").open("rb") as file:
        first = file.read(16384).split(b"\n\n", 1)[0]  # one CPU's part: the others are alike
        return b"\n".join(re.findall(rb"^(?:vendor_id|cpu family|model|stepping|flags)\s*:.*$", first, re.MULTILINE))
    return os.uname().machine.encode()
