"""Compiles the kernels for the GPU at hand, once: the machine code is kept by what it was made from."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

from judge.build.toolchain import find_toolchain
from judge.errors import InternalError

_SOURCES = Path(__file__).parent
_FLAGS = ("-std=c++17", "-O3", "-cubin")
_LIMIT_S = 120.0


def ensure_kernels(compute_capability: str, folder: Path, nvcc: Path | None = None) -> Path:
    """The machine code for devices of this compute capability (``9.0``), under ``folder``, compiled first when it is
    not there (some five seconds).

    Its name is a hash of sources, compilers and flags, so that a stale one is never used; it appears whole, so any
    number of processes may ask at once. Raises InternalError, ToolchainMissing among them.
    """
    toolchain = find_toolchain(nvcc)
    flags = (*_FLAGS, f"-arch=sm_{compute_capability.replace('.', '')}")
    digest = hashlib.sha256("\0".join((toolchain.identity, *flags)).encode())
    for source in sorted(_SOURCES.glob("*.cu*")):
        digest.update(source.name.encode() + b"\0" + hashlib.sha256(source.read_bytes()).digest())
    target = folder / f"{digest.hexdigest()[:20]}.cubin"
    if target.exists():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix="build-") as scratch:
        made = Path(scratch) / target.name
        command = [str(toolchain.root / "bin" / "nvcc"), *flags, str(_SOURCES / "kernels.cu"), "-o", str(made)]
        # nvcc finds its host compiler there.
        environment = {**os.environ, "PATH": f"/usr/local/bin:/usr/bin:/bin:{os.environ.get('PATH', '')}"}
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", check=False, timeout=_LIMIT_S,
                env=environment, cwd=scratch,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise InternalError(f"compiling the judge's kernels took longer than {_LIMIT_S:g} s") from None
        if done.returncode:
            said = (done.stdout + done.stderr).strip()[-1000:]
            reason = f"nvcc {toolchain.version} cannot compile the judge's kernels for {compute_capability}: {said}"
            raise InternalError(reason, "a toolkit that knows this GPU; gpujudge doctor")
        # The jail reads it as nobody.
        made.chmod(0o644)
        made.replace(target)
    return target
