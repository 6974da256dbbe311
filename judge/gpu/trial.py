"""Tries a GPU in a process of its own: whether it computes, and whether its memory leaks to others.

``python -m judge.gpu.trial ORDINAL CUBIN fill`` fills most of the free memory with random words and reads it back;
``... inspect`` allocates as much and reads what it finds there. Each prints the exclusive or of all words. ``inspect``
prints 0 where the driver clears memory before it gives it to another process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from judge.compile.cubin import build_cubin
from judge.errors import InternalError
from judge.gpu.calibrate import PEAKS_SOURCE
from judge.gpu.process import own_process
from judge.judgement import DeviceInfo
from judge.settings import JudgeSettings

_WALL_S = 60.0
#: Enough memory to find out whether the GPU computes at all.
_SOME_BYTES = 64 << 20
_SHARE = 0.9


def why_not_working(device: DeviceInfo, settings: JudgeSettings) -> str:
    """Returns the error when a kernel runs on the GPU; empty when there is none."""
    try:
        _run(device, settings, "fill", _SOME_BYTES)
    except InternalError as error:
        return error.message
    return ""


def remembers(device: DeviceInfo, settings: JudgeSettings) -> bool:
    """Returns whether a process can read what another left in the GPU's memory. Raises InternalError.

    Hold the device: this takes nearly all of its memory.
    """
    _run(device, settings, "fill", 0)
    return _run(device, settings, "inspect", 0) != 0


def said_profiled(device: DeviceInfo, settings: JudgeSettings, profiler: Sequence[str]) -> str:
    """Returns the output of a profiler of a kernel of ours on the GPU. Raises InternalError."""
    done = _ended(device, settings, "inspect", _SOME_BYTES, profiler)
    return done.stdout + done.stderr


def _run(device: DeviceInfo, settings: JudgeSettings, what: str, size: int) -> int:
    done = _ended(device, settings, what, size)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        raise InternalError(lines[-1] if lines else f"the process ended with {done.returncode}")
    return int(done.stdout)


def _ended(
    device: DeviceInfo, settings: JudgeSettings, what: str, size: int, profiler: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    cubin = build_cubin(PEAKS_SOURCE, device.compute_capability, settings.data_dir / "kernels", settings.nvcc)
    ordinal = str(device.details.get("ordinal", 0))
    command, environment = own_process("judge.gpu.trial", ordinal, str(cubin), what, str(size))
    try:
        return subprocess.run(
            [*profiler, *command],
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_WALL_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InternalError(f"the GPU did not answer within {_WALL_S:g} s") from None


def main(ordinal: int, cubin: str, what: str, size: int) -> None:
    """Prints the exclusive or of all words in ``size`` bytes of the GPU; 0: of most that is free."""
    import numpy as np
    import pycuda.driver as cuda

    cuda.init()
    context = cuda.Device(ordinal).retain_primary_context()
    context.push()
    try:
        module = cuda.module_from_file(cubin)
        blocks, threads = 64, 256
        piece = 16 * 4 * blocks * threads
        shape: dict[str, Any] = {"grid": (blocks, 1), "block": (threads, 1, 1)}
        size = max(1, (size or int(_SHARE * cuda.mem_get_info()[0])) // piece) * piece
        memory, result = cuda.mem_alloc(size), cuda.mem_alloc(4)
        cuda.memset_d32(result, 0, 1)
        if what == "fill":
            module.get_function("scramble")(memory, np.uint64(size // 4), np.uint32(7), **shape)
        module.get_function("read_all")(memory, np.uint64(size // 16), result, **shape)
        found = np.empty(1, np.uint32)
        cuda.memcpy_dtoh(found, result)
    finally:
        context.pop()
    print(int(found[0]), flush=True)
    # Ending the process frees the context. Freeing the memory here would hide what a process leaves behind.
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
