"""Finds nvcc and its toolkit: the one in the settings, on PATH, in this environment's packages, or in /usr/local/cuda.

A package from the Python index differs from an installed toolkit in two ways: nothing puts it on PATH, and it has no
``libcudart.so`` beside ``libcudart.so.13``. So libraries are linked by their full names, and the folder that nvcc
itself calls its top is what the jail is shown.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from judge.errors import ToolchainMissing

#: Where a jail sees the toolkit, wherever it lies outside.
INSIDE = "/cuda"
_REMEDY = "pip install 'gpujudge[nvcc]', or install the CUDA toolkit and put nvcc on PATH"
_HOST_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True)
class Toolchain:
    """``root`` is the toolkit's top: ``bin``, ``nvvm``, ``include`` and ``lib`` (or ``lib64``) are below it."""

    root: Path
    nvcc: str
    gxx: str
    #: What a cached build is good for: changes whenever either compiler does.
    identity: str

    @property
    def version(self) -> str:
        """nvcc's release, such as ``13.0``."""
        match = re.search(r"release (\d+\.\d+)", self.nvcc)
        return match[1] if match else "unknown"

    def library(self, name: str) -> str:
        """The path, below ``root``, of the library whose file name begins with ``name``. Raises ToolchainMissing."""
        for folder in ("lib64", "lib", "targets/x86_64-linux/lib"):
            found = sorted((self.root / folder).glob(name + "*"))
            if found:
                return str(found[0].relative_to(self.root))
        raise ToolchainMissing(f"the CUDA toolkit in {self.root} has no {name}", _REMEDY)


def find_toolchain(nvcc: Path | None = None) -> Toolchain:
    """The toolchain to use; ``nvcc`` is the setting. Raises ToolchainMissing with what to install.

    The search is made once a process.
    """
    return _find(nvcc)


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
    stat = (root / "bin" / "nvcc").stat()
    identity = f"{nvcc_version}\n{gxx_version}\n{root}\n{stat.st_size} {stat.st_mtime_ns}"
    return Toolchain(root=root, nvcc=nvcc_version, gxx=gxx_version, identity=identity)


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
    """The toolkit's top as this nvcc itself names it (it may be a wrapper of another); None when it does not work."""
    if not os.access(nvcc, os.X_OK):
        return None
    plan = _output([str(nvcc), "--dryrun", "-x", "cu", "-c", "/dev/null", "-o", "/dev/null"])
    match = re.search(r"^#\$ TOP=(.+)$", plan, flags=re.MULTILINE)
    if match is None:
        return None
    top = Path(match[1].strip().strip('"')).resolve()
    return top if (top / "bin" / "nvcc").exists() else None


def _output(command: list[str]) -> str:
    """Both streams; empty when it cannot be run. The path is set because nvcc looks for its host compiler there."""
    environment = {**os.environ, "PATH": f"{os.environ.get('PATH', '')}:{_HOST_PATH}", "LC_ALL": "C"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False, env=environment)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr
