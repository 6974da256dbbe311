"""Our own CUDA kernels as machine code for one GPU: compiled once, and kept by what it was made from.

The sources are trusted, so there is no jail.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

from judge.build.target import Target
from judge.build.toolchain import find_toolchain
from judge.errors import InternalError

_FLAGS = ("-std=c++17", "-O3", "-cubin")
_WALL_S = 120.0


def build_cubin(source: Path, compute_capability: str, folder: Path, nvcc: Path | None = None) -> Path:
    """The machine code of ``source``, which may include what lies beside it, for devices of this compute capability
    (``9.0``), under ``folder``; compiled first when it is not there (some seconds).

    Its name has a hash of sources, compilers and flags, so that a stale one is never used; it appears whole, so any
    number of processes may ask at once. Raises InternalError, ToolchainMissing among them.
    """
    toolchain = find_toolchain(nvcc)
    number = Target.cuda(compute_capability).specific_arch.removeprefix("sm_")
    flags = (*_FLAGS, f"-gencode=arch=compute_{number},code=sm_{number}")
    digest = hashlib.sha256("\0".join((toolchain.identity, *flags)).encode())
    for file in sorted(source.parent.glob("*.cu*")):
        digest.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    target = folder / f"{source.stem}-sm_{number}-{digest.hexdigest()[:20]}.cubin"
    if target.exists():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix="build-") as scratch:
        made = Path(scratch) / target.name
        command = [str(toolchain.root / "bin" / "nvcc"), *flags, str(source), "-o", str(made)]
        # nvcc finds its host compiler there.
        environment = {**os.environ, "PATH": f"/usr/local/bin:/usr/bin:/bin:{os.environ.get('PATH', '')}"}
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", check=False, timeout=_WALL_S,
                env=environment, cwd=scratch,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise InternalError(f"compiling {source.name} took longer than {_WALL_S:g} s") from None
        if done.returncode:
            said = (done.stdout + done.stderr).strip()[-1000:]
            reason = f"nvcc {toolchain.version} cannot compile {source.name} for {compute_capability}: {said}"
            raise InternalError(reason, "a toolkit that knows this GPU; gpujudge doctor")
        # The jail reads it as nobody.
        made.chmod(0o644)
        made.replace(target)
    return target
