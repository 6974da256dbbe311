"""Builds the native part: a ``libcudart.so.13`` that runs kernels on the CPU instead of a GPU."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LIBRARY = "libcudart.so.13"

_SOURCES = Path(__file__).parent / "native"
_FLAGS = (
    *("-std=c++20", "-O2", "-march=native", "-ffp-contract=off", "-pthread"),
    *("-fPIC", "-fvisibility=hidden", "-Wall"),
    # Each call of the runtime's keeps its frame and its name, by which misuse.cpp tells which one failed.
    *("-fno-optimize-sibling-calls", "-fno-reorder-blocks-and-partition"),
)


class NativeBuildError(Exception):
    """The library cannot be built; the message says what to install, or what the compiler said."""


def ensure(folder: Path) -> Path:
    """The path of the library under ``folder``, built first when it is not there (some ten seconds).

    Its folder is named by a hash of sources, compiler, flags and CPU, so that a stale one is never used. Safe with
    any number of concurrent callers, in this process and others: one builds, the others wait. Raises
    ``NativeBuildError``.
    """
    compiler = _compiler()
    include = cuda_include()
    target = folder / _key(compiler, include)
    library = target / LIBRARY
    if library.exists():
        return library
    target.mkdir(parents=True, exist_ok=True)
    with _locked(target / "lock"):
        if not library.exists():
            _build(compiler, include, library)
    return library


def cuda_include() -> Path:
    """The folder of ``cuda_runtime_api.h``: of CUDA_HOME, nvcc in PATH, /usr/local/cuda, or NVIDIA's wheels."""
    candidates = [Path(os.environ[name]) / "include" for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    nvcc = shutil.which("nvcc")
    if nvcc:
        candidates.append(Path(nvcc).resolve().parent.parent / "include")
    candidates.append(Path("/usr/local/cuda/include"))
    for site in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        candidates.append(Path(site) / "nvidia" / "cu13" / "include")
    for candidate in candidates:
        if (candidate / "cuda_runtime_api.h").exists():
            return candidate
    raise NativeBuildError(
        "cuda_runtime_api.h is not found: install the CUDA toolkit (or `pip install gpujudge[nvcc]`), or set CUDA_HOME"
    )


def _compiler() -> str:
    for name in (os.environ.get("CXX"), "g++", "clang++"):
        found = shutil.which(name) if name else None
        if found:
            return found
    raise NativeBuildError("no C++ compiler is found: install g++ (`apt install g++`)")


def _key(compiler: str, include: Path) -> str:
    digest = hashlib.sha256()
    for source in sorted(_SOURCES.iterdir()):
        if source.is_file():
            digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    version = subprocess.run([compiler, "--version"], capture_output=True, check=False).stdout
    header = (include / "driver_types.h").read_bytes()
    for part in (*map(str.encode, _FLAGS), version, header, platform.machine().encode(), _cpu_features()):
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()[:16]


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


def _build(compiler: str, include: Path, library: Path) -> None:
    sources = sorted(_SOURCES.glob("*.cpp"))
    with tempfile.TemporaryDirectory(dir=library.parent, prefix="build-") as scratch:
        objects = [Path(scratch) / f"{source.stem}.o" for source in sources]
        commands = [
            [compiler, *_FLAGS, f"-I{include}", "-c", str(source), "-o", str(made)]
            for source, made in zip(sources, objects, strict=True)
        ]
        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            list(pool.map(_run, commands))
        finished = Path(scratch) / LIBRARY
        link = [f"-Wl,--version-script={_SOURCES / 'libcudart.map'}", f"-Wl,-soname,{LIBRARY}", "-Wl,-z,now"]
        _run([compiler, "-shared", *_FLAGS, *map(str, objects), *link, "-o", str(finished)])
        finished.replace(library)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise NativeBuildError(f"{' '.join(command)} failed:\n{done.stderr[-4000:]}")
