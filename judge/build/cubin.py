"""Our own CUDA kernels as machine code for one GPU. Trusted sources, so no jail; kept in the data folder by content."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

from judge.build.target import Target
from judge.build.toolchain import find_toolchain
from judge.errors import InternalError
from judge.settings import JudgeSettings

_FLAGS = ("-std=c++17", "-O3", "-cubin")
_WALL_S = 300.0


def build_cubin(source: Path, compute_capability: str, settings: JudgeSettings) -> Path:
    """The cubin of ``source``, which may include what lies beside it. Raises InternalError, ToolchainMissing too."""
    toolchain = find_toolchain(settings.nvcc)
    number = Target.cuda(compute_capability).specific_arch.removeprefix("sm_")
    flags = (*_FLAGS, f"-gencode=arch=compute_{number},code=sm_{number}")
    sources = [source, *sorted(source.parent.glob("*.cuh"))]
    key = hashlib.sha256("\0".join((toolchain.identity, *flags)).encode())
    for file in sources:
        key.update(hashlib.sha256(file.read_bytes()).digest())
    cubin = settings.data_dir / "cubins" / f"{source.stem}-sm_{number}-{key.hexdigest()[:20]}.cubin"
    if cubin.exists():
        return cubin
    cubin.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cubin.parent, prefix="build-") as scratch:
        made = Path(scratch) / cubin.name
        command = [str(toolchain.root / "bin" / "nvcc"), *flags, str(source), "-o", str(made)]
        environment = {**os.environ, "PATH": f"{os.environ.get('PATH', '')}:/usr/local/bin:/usr/bin:/bin"}
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_WALL_S, check=False, env=environment, cwd=scratch
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InternalError(f"{source.name} could not be compiled: {error}", "gpujudge doctor") from error
        if done.returncode:
            said = (done.stdout + done.stderr).strip()[-2000:]
            raise InternalError(f"{source.name} does not compile for sm_{number}: {said}", "is this nvcc too old?")
        made.chmod(0o644)
        made.replace(cubin)
    return cubin
