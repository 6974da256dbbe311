"""Finds nvcc and its toolkit: from the settings, PATH, this environment's packages, or /usr/local/cuda.

A toolkit from a Python package differs from an installed one in two ways: it is not on PATH, and it has no
``libcudart.so`` beside ``libcudart.so.13``. So libraries are linked by their full names, and the jail shows the folder
that nvcc itself calls its top.
"""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import re
import shutil
import subprocess
import sysconfig
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from judge.errors import ToolchainMissing
from judge.sandbox.cgroup_hierarchy import is_owner_alive, own_identity
from records import dataclass

#: The toolkit's path inside a jail.
INSIDE = "/cuda"
_REMEDY = "in a clone of gpujudge: pip install '.[nvcc]'; or install the CUDA toolkit and put nvcc on PATH"
_HOST_PATH = "/usr/local/bin:/usr/bin:/bin"
_SCRATCH = "gpujudge-nvcc-"
#: What a build's result depends on. The version names NVIDIA's build; the sizes tell if one was replaced.
_PROGRAMS = ("bin/nvcc", "bin/ptxas", "nvvm/bin/cicc")


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A CUDA toolkit and the host compiler. ``root`` has ``bin``, ``nvvm``, ``include``, and ``lib`` or ``lib64``."""

    root: Path
    #: What ``nvcc --version`` prints, and the first line of ``g++ --version``.
    nvcc_version: str
    gxx_version: str
    #: Changes whenever either compiler does; part of the key of cached builds.
    identity: str

    @property
    def version(self) -> str:
        """The release of nvcc, such as ``13.0``."""
        match = re.search(r"release (\d+\.\d+)", self.nvcc_version)
        return match[1] if match else "unknown"

    def library(self, name: str) -> str:
        """Returns the path, below ``root``, of the library whose file name begins with ``name``.

        Raises ToolchainMissing.
        """
        for folder in ("lib64", "lib", "targets/x86_64-linux/lib"):
            found = sorted((self.root / folder).glob(name + "*"))
            if found:
                return str(found[0].relative_to(self.root))
        raise ToolchainMissing(f"the CUDA toolkit in {self.root} has no {name}", _REMEDY)


_searching = threading.Lock()


def find_toolchain(nvcc: Path | None = None) -> Toolchain:
    """Returns the toolchain; ``nvcc`` is the setting. Raises ToolchainMissing with what to install.

    Each process searches once.
    """
    with _searching:
        return _find(nvcc)


def find_ahead(nvcc: Path | None = None) -> None:
    """Searches in the background, so that ``find_toolchain`` need not wait for the compilers' answers."""

    def search() -> None:
        with contextlib.suppress(ToolchainMissing):
            find_toolchain(nvcc)

    threading.Thread(target=search, name="toolchain", daemon=True).start()


@functools.cache
def _find(nvcc: Path | None) -> Toolchain:
    tried = []
    for candidate in [nvcc] if nvcc is not None else _candidates():
        root = _top_of(candidate)
        if root is not None:
            break
        tried.append(str(candidate))
    else:
        where = f" (tried {', '.join(tried)})" if tried else ""
        raise ToolchainMissing(f"no working nvcc was found{where}", _REMEDY)
    if shutil.which("g++", path=_HOST_PATH) is None:
        raise ToolchainMissing("nvcc needs a host compiler, and there is no g++", "apt-get install -y g++")
    nvcc_version = _output([str(candidate), "--version"])
    gxx_version = _output(["g++", "--version"]).splitlines()[0]
    # No path and no date: machines with the same compilers find each other's builds.
    sizes = [(root / program).stat().st_size for program in _PROGRAMS if (root / program).exists()]
    identity = f"{nvcc_version}\n{gxx_version}\n{platform.machine()}\n{sizes}"
    return Toolchain(root=root, nvcc_version=nvcc_version, gxx_version=gxx_version, identity=identity)


def _candidates() -> Iterator[Path]:
    on_path = shutil.which("nvcc")
    if on_path is not None:
        yield Path(on_path)
    for key in ("purelib", "platlib"):
        folder = Path(sysconfig.get_paths()[key]) / "nvidia"
        yield from sorted((nvcc for nvcc in folder.glob("cu*/bin/nvcc")), reverse=True)
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(variable):
            yield Path(os.environ[variable]) / "bin" / "nvcc"
    yield Path("/usr/local/cuda/bin/nvcc")


def _top_of(nvcc: Path) -> Path | None:
    """Returns the toolkit's top as this nvcc names it (it may wrap another); None where it does not work."""
    if not os.access(nvcc, os.X_OK):
        return None
    # Even a dry run makes files, which a killed nvcc leaves: the name of their folder says whose they are.
    with tempfile.TemporaryDirectory(prefix=_SCRATCH, suffix=f".{own_identity()}") as scratch:
        plan = _output([str(nvcc), "--dryrun", "-x", "cu", "-c", "/dev/null", "-o", "/dev/null"], TMPDIR=scratch)
    match = re.search(r"^#\$ TOP=(.+)$", plan, flags=re.MULTILINE)
    if match is None:
        return None
    top = Path(match[1].strip().strip('"')).resolve()
    return top if (top / "bin" / "nvcc").exists() else None


def remove_scratch() -> int:
    """Removes the folders that killed processes left of their questions to nvcc; returns how many."""
    folders = [path for path in Path(tempfile.gettempdir()).glob(f"{_SCRATCH}*") if is_owner_alive(path.name) is False]
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    return len(folders)


def _output(command: list[str], **variables: str) -> str:
    """Returns both streams of a command; empty where it cannot run. nvcc finds its host compiler through PATH."""
    environment = {**os.environ, "PATH": f"{os.environ.get('PATH', '')}:{_HOST_PATH}", "LC_ALL": "C", **variables}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False, env=environment)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr
