"""Builds C++ shared libraries on the machine that uses them, with its own compiler, for its own CPU.

A platform wheel brings libraries, built for any CPU that has what ``x86-64-v3`` names; where such a library fits the
sources and the CPU, nothing is built.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import itertools
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from records import dataclass

#: Environment variable: the folder in which libraries are built once, for all the folders that ask for them.
SHARED_FOLDER = "GPUJUDGE_LIBRARY_CACHE"

#: Of every library. Floating-point results are the same with any compiler, on any CPU: nothing is fused.
_FLAGS = ("-std=c++20", "-O2", "-ffp-contract=off", "-pthread", "-fPIC", "-fvisibility=hidden", "-Wall")
_OWN_CPU = "-march=native"
_MANY_CPUS = "-march=x86-64-v3"
#: What /proc/cpuinfo lists for a CPU that runs code made for ``_MANY_CPUS``.
_MANY_CPUS_HAVE = (
    *("cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"),
    *("avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"),
)
#: Beside the folder of the sources: the libraries that a wheel brings, each in a folder named by what it was made of.
BROUGHT = "built"


#: Takes the share of a build that is done, from 0 to 1.
Progress = Callable[[float], None]


class NativeBuildError(Exception):
    """The error of a library that cannot be built.

    The message names what to install, or quotes the compiler. ``remedy`` is what to do about it, empty where the
    message says so.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


def no_progress(_share: float) -> None:
    """Does nothing."""


@dataclass(frozen=True, slots=True)
class CxxLibrary:
    """One library, built of all ``*.cpp`` in ``sources`` and below; quoted includes are relative to ``sources``.

    ``flags`` follow those of every library; ``link`` is for linking only. ``exports`` names the version script, in
    ``sources``, that lists the exported symbols. ``depends`` is what matters of the headers in ``include``.
    ``generated`` has the paths and texts of headers that the build adds to ``sources``.

    Two settings shorten the build. ``unit_bytes``: sources of one folder are compiled together, as translation units of
    about this size, so that they parse headers and instantiate templates once; the names in their anonymous namespaces
    must differ. ``cold`` names top folders that take no time at run time, whose sources are optimised less (``-O1``).
    """

    name: str
    sources: Path
    flags: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    exports: str | None = None
    include: Path | None = None
    depends: bytes = b""
    generated: tuple[tuple[str, str], ...] = ()
    unit_bytes: int = 0
    cold: tuple[str, ...] = ()

    def ensure(self, folder: Path, progress: Progress = no_progress) -> Path:
        """Returns the path of the library under ``folder``, or of the brought one; builds it first if it is missing.

        ``progress`` is called from 0 on, in this thread, while this call builds.

        The library's folder is named by a hash of sources, compiler, flags and CPU, so that a stale one is never used.
        Safe with any number of concurrent callers, in this process and others: one builds, the others wait.

        ``GPUJUDGE_LIBRARY_CACHE`` in the environment names a folder of built libraries that several such folders
        share: the library is built there and linked (or copied) into ``folder``. Whoever can write to it decides what
        code its users run. Raises ``NativeBuildError``.
        """
        if (brought := self.brought()) is not None:
            return brought
        compiler = _compiler()
        key = self._key(compiler)
        library = folder / key / self.name
        if library.exists():
            return library
        shared = os.environ.get(SHARED_FOLDER)
        if shared and Path(shared).resolve() != folder.resolve():
            _link(self._ensure_built(compiler, Path(shared) / key, progress), library)
            return library
        return self._ensure_built(compiler, folder / key, progress)

    def brought(self) -> Path | None:
        """Returns the library that was installed with these sources, None if there is none that this CPU runs."""
        folder = self.sources.parent / BROUGHT
        if not folder.is_dir() or not set(_cpu_features().decode().split()).issuperset(_MANY_CPUS_HAVE):
            return None
        library = folder / self._portable_key() / self.name
        return library if library.exists() else None

    def build_portable(self, folder: Path) -> Path:
        """Builds the library for many CPUs, under ``folder``, and returns its path.

        Below ``folder`` it lies as ``brought`` looks for it. The same compiler makes the same bytes. Raises
        ``NativeBuildError``.
        """
        library = folder / self._portable_key() / self.name
        library.parent.mkdir(parents=True)
        self._build(_compiler(), library, _MANY_CPUS)
        return library

    def _ensure_built(self, compiler: str, target: Path, progress: Progress) -> Path:
        library = target / self.name
        if not library.exists():
            target.mkdir(parents=True, exist_ok=True)
            with _locked(target / "lock"):
                if not library.exists():
                    self._build(compiler, library, _OWN_CPU, progress)
        return library

    def _key(self, compiler: str) -> str:
        version = subprocess.run([compiler, "--version"], capture_output=True, check=False).stdout
        return self._digest(_OWN_CPU.encode(), version, self.depends, platform.machine().encode(), _cpu_features())

    def _portable_key(self) -> str:
        return self._digest(_MANY_CPUS.encode())

    def _digest(self, *made_with: bytes) -> str:
        digest = hashlib.sha256()
        for source in sorted(self.sources.rglob("*")):
            if source.is_file():
                name = source.relative_to(self.sources).as_posix()
                digest.update(name.encode() + b"\0" + source.read_bytes() + b"\0")
        # No folder is among these: a checkout that is moved keeps its library.
        headers = itertools.chain.from_iterable(self.generated)
        flags = map(str.encode, (*_FLAGS, *self.flags, *self.link, str(self.unit_bytes), *self.cold, *headers))
        for part in (*flags, *made_with):
            digest.update(hashlib.sha256(part).digest())
        return digest.hexdigest()[:16]

    def _build(self, compiler: str, library: Path, cpu: str, progress: Progress = no_progress) -> None:
        command = [compiler, cpu, *_FLAGS, *self.flags]
        link = [f"-Wl,--version-script={self.sources / self.exports}"] if self.exports else []
        with tempfile.TemporaryDirectory(dir=library.parent, prefix="build-") as scratch:
            for path, text in self.generated:
                header = Path(scratch) / path
                header.parent.mkdir(parents=True, exist_ok=True)
                header.write_text(text)
            # -iquote, not -I: no header here hides one of the system's.
            including = ["-iquote", str(self.sources), "-iquote", scratch]
            including += [f"-I{self.include}"] if self.include else []
            commands, objects, sizes = [], [], []
            for number, (folder, sources, size) in enumerate(self._units()):
                unit = Path(scratch) / f"{number}.cpp"
                unit.write_text("".join(f'#include "{source.relative_to(self.sources)}"\n' for source in sources))
                objects.append(unit.with_suffix(".o"))
                level = ["-O1"] if folder in self.cold else []
                commands.append([*command, *level, *including, "-c", str(unit), "-o", str(objects[-1])])
                sizes.append(size)
            progress(0.0)
            with ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0))) as pool:
                running = {pool.submit(_run, one): size for one, size in zip(commands, sizes, strict=True)}
                done = 0
                try:
                    for ended in as_completed(running):
                        ended.result()
                        done += running[ended]
                        progress(done / sum(sizes))
                except BaseException:
                    pool.shutdown(wait=False, cancel_futures=True)
                    raise
            finished = Path(scratch) / self.name
            _run([*command, "-shared", *map(str, objects), *link, *self.link, "-o", str(finished)])
            finished.replace(library)

    def _units(self) -> list[tuple[str, list[Path], int]]:
        """Returns the folder, the sources and their bytes of each translation unit, the largest first."""
        units: list[tuple[str, list[Path]]] = []
        sizes: list[int] = []
        for source in sorted(self.sources.rglob("*.cpp")):
            folder, size = source.parent.relative_to(self.sources).as_posix(), source.stat().st_size
            if units and units[-1][0] == folder and sizes[-1] + size <= self.unit_bytes:
                units[-1][1].append(source)
                sizes[-1] += size
            else:
                units.append((folder, [source]))
                sizes.append(size)
        found = [(*unit, size) for unit, size in zip(units, sizes, strict=True)]
        return sorted(found, key=lambda unit: -unit[2])


def _link(source: Path, target: Path) -> None:
    """Makes ``source`` appear, whole, as ``target``; harmless if another process has just done so."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        try:
            target.hardlink_to(source)
        except FileExistsError:
            raise
        except OSError:  # another file system, or a file of another user
            with tempfile.TemporaryDirectory(dir=target.parent, prefix="copy-") as scratch:
                Path(shutil.copy2(source, Path(scratch) / target.name)).replace(target)


def _compiler() -> str:
    for name in (os.environ.get("CXX"), "g++", "clang++"):
        found = shutil.which(name) if name else None
        if found:
            return found
    raise NativeBuildError("no C++ compiler is found: install g++ (`apt install g++`)", "sudo apt-get install -y g++")


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
        raise NativeBuildError(f"{' '.join(command)} failed:\n{done.stderr[-4000:]}", _remedy(command[0], done.stderr))


def _remedy(compiler: str, said: str) -> str:
    """Returns the remedy for a compiler that failed."""
    if "Killed signal" in said or "out of memory" in said:
        return "The machine ran out of memory: end other programs, or add swap space (2 GB free suffice)."
    if "No space left on device" in said:
        return "The disk is full: free 1 GB."
    found = subprocess.run([compiler, "--version"], capture_output=True, text=True, errors="replace", check=False)
    version = next(iter(found.stdout.splitlines()), compiler)
    return f"The compiler is {version}. If it is older than g++ 11, install a newer one and name it: export CXX=g++-13"
