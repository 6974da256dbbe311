"""Compares the model's times of the kernels in tests/kernels with times measured on a GPU.

    python benchmarks/modelled_time.py measure --json measured.json      (on a machine with a GPU and nvcc)
    python benchmarks/modelled_time.py compare measured.json --gpu h200  (anywhere with nvcc)

``measure`` needs NumPy and nothing else of Python. It builds every kernel, checks its answers for a small size and for
the size that is timed, and times 20 calls between events with the L2 cache flushed before each; the median counts.
Kernels of a topic run in a process of their own, and one that fails ends neither the others nor the table.

``compare`` runs the same launches on the emulator with its profile on, and asks its model for their time on the named
GPU. It prints both, what the model thinks limits each, and Spearman's rank correlation: within topics (ties get their
mean rank), their mean weighted by the number of kernels, that of the ranks pooled over topics, and over all kernels.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.kernels import harness  # noqa: E402 - where the package is not installed, the path above is what finds it
from tests.kernels.build import build  # noqa: E402
from tests.kernels.device import Device, real_device  # noqa: E402
from tests.kernels.harness import KERNELS, Kernel  # noqa: E402

_KERNEL_WALL_S = 60


@dataclass(frozen=True)
class Measured:
    """A kernel's time on the GPU, or its error."""

    kernel: str
    seconds: float | None = None
    spread: float | None = None
    error: str | None = None


def measure(kernels: Sequence[Kernel], output: Path | None, jobs: int) -> int:
    started = time.monotonic()
    device = _description()
    print(f"{len(kernels)} kernels on {device['name']}", flush=True)
    results: list[Measured] = []
    with (
        ThreadPoolExecutor(jobs) as compilers,
        ThreadPoolExecutor(6) as workers,
        tempfile.TemporaryDirectory() as scratch,
    ):
        builds = {k: compilers.submit(build, k.source, harness.CACHE, device["architecture"]) for k in kernels}
        lock = Path(scratch) / "gpu"
        topics = sorted({kernel.topic for kernel in kernels})
        mine = [workers.submit(measure_topic, [k for k in kernels if k.topic == t], builds, lock) for t in topics]
        for future in mine:
            results += future.result()
            if output is not None:
                output.write_text(json.dumps({"device": device, "kernels": [asdict(r) for r in results]}, indent=1))
    print(f"\n{'kernel':36s} {'time':>12s} {'spread':>7s}")
    for result in sorted(results, key=lambda result: result.kernel):
        if result.seconds is None:
            print(f"{result.kernel:36s} {result.error}")
        else:
            print(f"{result.kernel:36s} {result.seconds * 1e6:9.2f} µs {(result.spread or 0) / result.seconds:7.1%}")
    failed = sum(result.seconds is None for result in results)
    print(f"{len(results)} kernels, {failed} failed, {time.monotonic() - started:.0f} s")
    return 1 if failed else 0


def _description() -> dict[str, str]:
    """Returns the GPU's name and architecture, asked in another process: this one never opens the device."""
    code = "from tests.kernels.device import real_device as d; d = d(); print(d.name, d.architecture, sep='\\n')"
    said = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    if said.returncode:
        raise SystemExit(f"no GPU can be used: {said.stderr.strip().splitlines()[-1]}")
    name, architecture = said.stdout.splitlines()
    return {"name": name, "architecture": architecture}


def measure_topic(kernels: list[Kernel], builds: dict[Kernel, Future[Path]], lock: Path) -> list[Measured]:
    """Measures all kernels. After one that breaks its process or hangs, a new process measures the rest."""
    results, waiting = [], []
    for kernel in kernels:
        try:
            waiting.append((str(kernel), str(builds[kernel].result())))
        except Exception as error:
            results.append(_told(Measured(str(kernel), error=str(error))))
    while waiting:
        command = [
            sys.executable,
            str(Path(__file__).resolve()),
            "_worker",
            str(lock),
            *(p for w in waiting for p in w),
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            try:
                said, problem = process.communicate(timeout=_KERNEL_WALL_S * (1 + len(waiting)))
            except subprocess.TimeoutExpired:
                process.kill()
                said, problem = process.communicate()
                problem += "it took too long"
        done = [Measured(**json.loads(line)) for line in said.splitlines() if line.startswith("{")]
        if len(done) < len(waiting) and not (done and done[-1].error):
            last = (problem.strip().splitlines() or ["no reason given"])[-1]
            done.append(Measured(waiting[len(done)][0], error=f"its process ended: {last}"))
        results += [_told(result) for result in done]
        waiting = waiting[len(done) :]
    return results


def _told(result: Measured) -> Measured:
    what = f"{result.seconds * 1e6:10.2f} µs" if result.seconds is not None else f"FAILED {result.error}"
    print(f"{result.kernel:36s} {what}", flush=True)
    return result


def _worker(lock: Path, pairs: Sequence[str]) -> int:
    """Measures ``kernel library`` pairs of one topic, printing a line of JSON each; ends after the first failure."""
    device = None
    for name, library in zip(pairs[::2], pairs[1::2], strict=True):
        topic = name.split("/")[0]
        cases = [harness.case_of(topic, "SMALL"), harness.case_of(topic, "MODEL")]
        try:
            with _exclusive(lock):
                device = device or real_device()
                difference = harness.check(device, Path(library), cases[0])
                if difference is not None:
                    raise AssertionError(f"small size: {difference}")
                seconds, spread = harness.time_s(device, Path(library), cases[1])
            result = Measured(name, seconds, spread)
        except Exception as error:
            result = Measured(name, error=f"{type(error).__name__}: {error}")
        print(json.dumps(asdict(result)), flush=True)
        if result.error:
            return 1
    return 0


@contextlib.contextmanager
def _exclusive(lock: Path) -> Iterator[None]:
    """Locks the GPU for one process at a time; others make their inputs meanwhile."""
    with lock.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def compare(measured: Path, gpu_name: str, profiles: Path | None, output: Path | None) -> int:
    from emulator.model import group_launches, load_gpu, program_time

    told = json.loads(measured.read_text())
    gpu = load_gpu(gpu_name)
    times = {entry["kernel"]: entry["seconds"] for entry in told["kernels"] if entry["seconds"] is not None}
    rows: list[dict[str, Any]] = []
    chosen = [kernel for kernel in KERNELS if str(kernel) in times]
    print(f"measured on {told['device']['name']}, modelled for {gpu_name}")
    print(f"{'kernel':36s} {'modelled':>12s} {'measured':>12s} {'ratio':>6s}  limiter")
    for kernel, launches in _profiled(chosen, profiles, gpu.memory.l2_bytes):
        program = program_time(group_launches(launches), gpu)
        row = {"kernel": str(kernel), "modelled": program.seconds, "measured": times[str(kernel)]}
        row |= {"launches": len(launches), "limiter": program.limiter, "why": program.why}
        row["parts"] = {one.group.kernel: dict(one.each.parts) for one in program.kernels}
        rows.append(row)
        ratio = row["modelled"] / row["measured"]
        figures = f"{row['modelled'] * 1e6:9.2f} µs {row['measured'] * 1e6:9.2f} µs {ratio:6.2f}"
        print(f"{row['kernel']:36s} {figures}  {row['limiter']}", flush=True)
    _print_correlations(rows)
    if output is not None:
        output.write_text(json.dumps(rows, indent=1))
    return 0


def _profiled(kernels: Sequence[Kernel], file: Path | None, l2_bytes: int) -> Iterator[tuple[Kernel, Sequence[Any]]]:
    """Returns the launch statistics of each kernel, from ``file`` (a trusted pickle) if it has them."""
    from emulator import Limits, Runtime, native

    kept: dict[Kernel, Sequence[Any]] = pickle.loads(file.read_bytes()) if file is not None and file.exists() else {}  # noqa: S301 (a file of one's own)
    library = native.ensure(ROOT / ".cache" / "libraries")
    # With one thread, warps that poll others do so equally often in every run.
    runtime = Runtime(library=library, limits=Limits(wall_s=300), threads=1, profile=True, l2_bytes=l2_bytes)
    device = Device(ctypes.CDLL(str(library)))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        builds = {kernel: pool.submit(build, kernel.source, harness.CACHE) for kernel in kernels if kernel not in kept}
        for kernel in kernels:
            if kernel in builds:
                kept[kernel] = _profile(runtime, device, builds[kernel].result(), kernel)
                if file is not None:
                    file.write_bytes(pickle.dumps(kept))
            yield kernel, kept[kernel]


def _profile(runtime: Any, device: Device, library: Path, kernel: Kernel) -> Sequence[Any]:
    with harness.session(device, library, harness.case_of(kernel.topic, "MODEL")) as session:
        session.clear()
        runtime.take_report()
        session.solve()
        difference = session.difference()
    if difference is not None:
        raise SystemExit(f"{kernel} is wrong on the emulator: {difference}")
    launches: Sequence[Any] = runtime.take_report().launches
    return launches


def ranks(values: Sequence[float]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Returns ranks, 1 for the least; equal values get the mean of their ranks."""
    array = np.asarray(values, np.float64)
    below = (array[:, None] > array).sum(axis=1)
    equal = (array[:, None] == array).sum(axis=1)
    ranked: np.ndarray[Any, np.dtype[np.float64]] = below + (equal + 1) / 2
    return ranked


def correlation(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> float:
    """Returns Pearson's correlation; applied to ranks, it is Spearman's."""
    x, y = x - x.mean(), y - y.mean()
    length = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / length if length else float("nan")


def _print_correlations(rows: Sequence[dict[str, Any]]) -> None:
    def pair(chosen: Sequence[dict[str, Any]]) -> tuple[Any, Any]:
        return ranks([row["modelled"] for row in chosen]), ranks([row["measured"] for row in chosen])

    topics: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        topics.setdefault(row["kernel"].split("/")[0], []).append(row)
    compared = {topic: chosen for topic, chosen in topics.items() if len(chosen) > 1}
    print(f"\n{'topic':20s} kernels  rank correlation")
    found, pooled = [], []
    for topic, chosen in compared.items():
        modelled, measured = pair(chosen)
        found.append(correlation(modelled, measured))
        # Ranks scaled to 0..1, so that one can be as far off in a topic of three kernels as in one of seven.
        pooled.append([(side - 1) / (len(chosen) - 1) for side in (modelled, measured)])
        print(f"{topic:20s} {len(chosen):7d}  {found[-1]:16.3f}")
    weights = [len(chosen) for chosen in compared.values()]
    print(f"{'mean by kernels':20s} {sum(weights):7d}  {np.average(found, weights=weights):16.3f}")
    together = [np.concatenate(side) for side in zip(*pooled, strict=True)]
    print(f"{'pooled in topics':20s} {sum(weights):7d}  {correlation(together[0], together[1]):16.3f}")
    print(f"{'all kernels':20s} {len(rows):7d}  {correlation(*pair(rows)):16.3f}")
    off = np.log([row["modelled"] / row["measured"] for row in rows])
    middle, nine_tenths = np.exp(np.median(off)), np.exp(np.quantile(np.abs(off), 0.9))
    print(f"modelled / measured: median {middle:.2f}, nine of ten within a factor of {nine_tenths:.2f}")


def main() -> int:
    if sys.argv[1:2] == ["_worker"]:
        return _worker(Path(sys.argv[2]), sys.argv[3:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    modes = parser.add_subparsers(dest="mode", required=True)
    measuring = modes.add_parser("measure", help="time the kernels on this machine's GPU")
    measuring.add_argument("--json", type=Path, help="write the times there")
    measuring.add_argument("--only", action="append", help="topic, or topic/kernel (may be repeated)")
    measuring.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="compilers at once (default: all CPUs)"
    )
    comparing = modes.add_parser("compare", help="set measured times beside modelled ones")
    comparing.add_argument("measured", type=Path)
    comparing.add_argument("--gpu", default="h200", help="the model's name of the GPU (default: %(default)s)")
    comparing.add_argument("--profiles", type=Path, help="keep the emulator's profiles there, and use those that are")
    comparing.add_argument("--json", type=Path, help="write the table there")
    arguments = parser.parse_args()
    if arguments.mode == "compare":
        return compare(arguments.measured, arguments.gpu, arguments.profiles, arguments.json)
    wanted = [k for k in KERNELS if not arguments.only or {k.topic, str(k)} & set(arguments.only)]
    return measure(wanted, arguments.json, arguments.jobs)


if __name__ == "__main__":
    sys.exit(main())
