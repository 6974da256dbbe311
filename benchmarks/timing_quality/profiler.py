"""Measures kernels with Nsight Compute, for comparison with the judge's times.

``python -m benchmarks.timing_quality.profiler LIBRARY PACK COUNT [KERNELS]`` calls ``solve`` of a built library on
inputs of the benchmark case, in this process and without the jail: only for kernels of our own. ``durations`` runs it
under ``ncu``.
"""

from __future__ import annotations

import csv
import io
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from judge.bench.statistics import PROCESSES
from judge.bench.timing.schedule import max_offset_bytes

ROOT = Path(__file__).resolve().parents[2]
CALLS = 20
_PAGE_BYTES = 4096


class NoProfiler(Exception):
    """Nsight Compute is missing or cannot read the counters; the message says why."""


def durations(library: bytes, pack_folder: Path, kernels: Path | None) -> list[float]:
    """Returns the device seconds of each call of ``solve``, summed over its kernels, at unchanged clocks.

    With the judge's ``kernels`` (machine code for this GPU) each call finds the caches as in the judge, full of
    unrelated clean lines. Without, ``ncu`` invalidates them before each kernel. Raises NoProfiler.
    """
    ncu = shutil.which("ncu")
    if ncu is None:
        raise NoProfiler("ncu is not installed")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.so"
        path.write_bytes(library)
        command = [
            ncu, "--clock-control", "none", "--cache-control", "none" if kernels else "all", "--profile-from-start",
            "off", "--metrics", "gpu__time_duration.sum", "--csv", "--page", "raw", "--print-units", "base",
            "--kernel-name-base", "function", "--target-processes", "all", sys.executable, "-m",
            "benchmarks.timing_quality.profiler", str(path), str(pack_folder), str(CALLS), *filter(None, [kernels]),
        ]  # fmt: skip
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=240, check=False
        )
    rows = [line for line in done.stdout.splitlines() if line.startswith('"')]
    if done.returncode != 0 or len(rows) < 3:
        said = (done.stdout + done.stderr).strip().splitlines()
        raise NoProfiler("ncu could not profile it: " + " | ".join(said[-4:]))
    per_kernel: dict[str, list[float]] = defaultdict(list)
    # The second row holds the units, which --print-units base makes nanoseconds.
    for row in list(csv.DictReader(io.StringIO("\n".join(rows))))[1:]:
        per_kernel[row["Kernel Name"]].append(float(row["gpu__time_duration.sum"].replace(",", "")) * 1e-9)
    ours = [times for times in per_kernel.values() if len(times) >= CALLS]
    return [sum(times[call * (len(times) // CALLS) + k] for times in ours for k in range(len(times) // CALLS))
            for call in range(CALLS)]  # fmt: skip


def median_duration(library: bytes, pack_folder: Path, kernels: Path | None, processes: int = PROCESSES) -> float:
    """Returns the median in seconds of the medians of so many processes; data lie elsewhere in each."""
    return statistics.median(statistics.median(durations(library, pack_folder, kernels)) for _ in range(processes))


def call_solve(library: Path, pack_folder: Path, count: int, kernels: str | None) -> None:
    """Makes ``count`` profiled calls of ``solve`` with the inputs of the first benchmark case for GPUs.

    Each call has outputs in pages of their own, as in the judge's bursts: their addresses matter, above all to atomics.
    """
    import pycuda.driver as cuda

    from judge.packs.inputs import make_inputs
    from judge.packs.loader import load_pack
    from judge.packs.sizes import shape
    from judge.runner.cuda.device import open_device
    from judge.runner.device import DeviceOptions
    from judge.runner.submission import Submission
    from judge.supervisor.layout import argument_specs

    pack = load_pack(pack_folder)
    case = pack.benchmarks_for("cuda")[0]
    inputs = make_inputs(pack, case, 1)
    cuda.init()
    context = cuda.Device(0).retain_primary_context()
    context.push()
    device = open_device(DeviceOptions(0, kernels, 0)) if kernels else None
    kept: list[cuda.DeviceAllocation] = []
    pages = max_offset_bytes() // _PAGE_BYTES

    def on_device(host: npt.NDArray[Any]) -> int:
        kept.append(cuda.mem_alloc(host.nbytes + (pages + 1) * _PAGE_BYTES))
        address = int(kept[-1]) + random.randint(0, pages) * _PAGE_BYTES
        cuda.memcpy_htod(address, np.ascontiguousarray(host))
        return address

    initial = {
        argument.name: np.zeros(shape(case, argument), argument.dtype) if argument.role == "out"
        else np.asarray(inputs[argument.name], argument.dtype)
        for argument in pack.arguments
    }  # fmt: skip
    shared = {each.name: on_device(initial[each.name]) for each in pack.arguments if each.role == "in"}
    calls: list[list[int | bytes]] = [
        [
            initial[each.name].tobytes().ljust(8, b"\0") if not each.is_pointer
            else shared.get(each.name) or on_device(initial[each.name])
            for each in pack.arguments
        ]
        for _ in range(count)
    ]  # fmt: skip
    with library.open("rb") as file:
        submission = Submission(file.fileno(), argument_specs(pack.arguments))
    for values in calls:
        if device is not None:
            device.settle()
        context.synchronize()
        cuda.start_profiler()
        submission.call(submission.bind(values))
        context.synchronize()
        cuda.stop_profiler()
    kept.clear()
    if device is not None:
        device.close()
    context.pop()


if __name__ == "__main__":
    call_solve(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), next(iter(sys.argv[4:]), None))
