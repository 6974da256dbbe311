"""Measures kernels with Nsight Compute, for comparison with the judge's times."""

from __future__ import annotations

import csv
import io
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CALLS = 20
PROCESSES = 5


class NoProfiler(Exception):
    """Nsight Compute is missing or cannot read the counters; the message says why."""


def durations(library: bytes, pack_folder: Path, kernels: Path, *, empty_caches: bool = False) -> list[float]:
    """Returns the device seconds of each call of ``solve``, summed over its kernels, at unchanged clocks.

    Each call finds its buffers, and the caches, as in the judge, whose ``kernels`` (machine code for this GPU) make the
    inputs anew; if ``empty_caches``, ``ncu`` then invalidates the caches. Raises NoProfiler.
    """
    ncu = shutil.which("ncu")
    if ncu is None:
        raise NoProfiler("ncu is not installed")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.so"
        path.write_bytes(library)
        command = [
            ncu, "--clock-control", "none", "--cache-control", "all" if empty_caches else "none",
            "--profile-from-start", "off", "--metrics", "gpu__time_duration.sum", "--csv", "--page", "raw",
            "--print-units", "base", "--kernel-name-base", "function", "--target-processes", "all",
            sys.executable, "-m", "benchmarks.timing_quality.profiled_calls",
            str(path), str(pack_folder), str(CALLS), str(kernels),
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
    return [
        sum(times[call * (len(times) // CALLS) + k] for times in ours for k in range(len(times) // CALLS))
        for call in range(CALLS)
    ]


def median_duration(
    library: bytes, pack_folder: Path, kernels: Path, processes: int = PROCESSES, *, empty_caches: bool = False
) -> float:
    """Returns the median in seconds of the medians of ``processes`` processes; data lie elsewhere in each."""
    return statistics.median(
        statistics.median(durations(library, pack_folder, kernels, empty_caches=empty_caches)) for _ in range(processes)
    )
