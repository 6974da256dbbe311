"""Compiles the judge's own CUDA kernels to machine code for one GPU, once for each version of their sources.

The sources are trusted, so there is no jail.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

from judge.compile.architecture import gpu_architecture, specific_architecture
from judge.compile.toolchain import find_toolchain
from judge.errors import InternalError

_FLAGS = ("-std=c++17", "-O3", "-cubin")
_WALL_S = 120.0


def build_cubin(source: Path, compute_capability: str, folder: Path, nvcc: Path | None = None) -> Path:
    """Returns the path, under ``folder``, of ``source``'s machine code for a compute capability (``9.0``).

    Compiles it first where it is not there (some seconds). ``source`` may include files beside it. The name has a hash
    of sources, compilers and flags, so that nobody uses a stale file; the file appears whole and is never replaced, so
    any number of processes may call this at once. Raises InternalError, ToolchainMissing among them.
    """
    toolchain = find_toolchain(nvcc)
    number = specific_architecture(gpu_architecture(compute_capability)).removeprefix("sm_")
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
        # nvcc finds its host compiler through PATH.
        environment = {**os.environ, "PATH": f"/usr/local/bin:/usr/bin:/bin:{os.environ.get('PATH', '')}"}
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=_WALL_S,
                env=environment,
                cwd=scratch,
            )
        except subprocess.TimeoutExpired:
            raise InternalError(f"compiling {source.name} took longer than {_WALL_S:g} s") from None
        if done.returncode:
            said = (done.stdout + done.stderr).strip()[-1000:]
            reason = f"nvcc {toolchain.version} cannot compile {source.name} for {compute_capability}: {said}"
            raise InternalError(reason, "a toolkit that knows this GPU; gpujudge doctor")
        # The jail reads the file as the user nobody.
        made.chmod(0o644)
        # Not replaced where another process was faster: a jail may be about to mount that very file.
        with contextlib.suppress(FileExistsError):
            os.link(made, target)
    return target
