"""Tries a GPU in a process of its own: whether it computes, and whether its memory leaks to others.

``python -m judge.gpu.trial ORDINAL CUBIN fill`` fills most of the free memory with random words and reads it back;
``... free`` does the same, frees it, and lives until its standard input closes; ``... inspect`` allocates as much and
reads what it finds there. Each prints the exclusive or of all words. ``inspect`` prints 0 where the driver clears
memory before it gives it to another process.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
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

    The other one has ended, or it lives on and has freed its memory, as the oracle does. Hold the device: this takes
    nearly all of its memory.
    """
    _run(device, settings, "fill", 0)
    if _run(device, settings, "inspect", 0):
        return True
    with _living(device, settings):
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


@contextlib.contextmanager
def _living(device: DeviceInfo, settings: JudgeSettings) -> Iterator[None]:
    """Keeps a process alive that has filled most of the free memory and freed it."""
    command, environment = _command(device, settings, "free", 0)
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        killer = threading.Timer(2 * _WALL_S, process.kill)
        killer.start()
        try:
            assert process.stdout is not None
            if not process.stdout.readline():
                raise InternalError("the process that fills the GPU's memory ended")
            yield
        finally:
            killer.cancel()
            process.kill()


def _command(device: DeviceInfo, settings: JudgeSettings, what: str, size: int) -> tuple[list[str], dict[str, str]]:
    cubin = build_cubin(PEAKS_SOURCE, device.compute_capability, settings.data_dir / "kernels", settings.nvcc)
    return own_process("judge.gpu.trial", str(device.details.get("ordinal", 0)), str(cubin), what, str(size))


def _ended(
    device: DeviceInfo, settings: JudgeSettings, what: str, size: int, profiler: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    command, environment = _command(device, settings, what, size)
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
        if what != "inspect":
            module.get_function("scramble")(memory, np.uint64(size // 4), np.uint32(7), **shape)
        module.get_function("read_all")(memory, np.uint64(size // 16), result, **shape)
        found = np.empty(1, np.uint32)
        cuda.memcpy_dtoh(found, result)
        if what == "free":
            memory.free()
    finally:
        context.pop()
    print(int(found[0]), flush=True)
    if what == "free":
        sys.stdin.read()
    # Ending the process frees the context. Freeing the memory here would hide what a process leaves behind.
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
