"""Judgements on N GPUs of a host against those on one GPU: throughput, seconds by activity, and spread of times.

    python -m benchmarks.several_gpus --devices cuda:0,cuda:1,cuda:2,cuda:3 --seconds 220

A process for each device, as workers have, judges the same kernel ``--rounds`` times, one after another: first each
device alone, then all together, where no device waits for another. A cold judgement of each, made before, is not
counted. For each kernel the script prints the throughput factor (judgements an hour of all devices together over the
mean of the devices alone), the standard deviation of the calls over their median for each judgement, and the mean
seconds of the waiting thread by activity. Medians of the devices alone show how far the cards differ. No kernel begins
after ``--seconds``, and one that exceeds them is ended.
"""

from __future__ import annotations

import argparse
import json
import queue
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks import gpu_latency
from judge.backends.registry import BUILTIN_BACKENDS
from judge.backends.sessions import warm_runners
from judge.packs.collection.loader import load_pack
from judge.settings import JudgeSettings

ROOT = Path(__file__).resolve().parent.parent


def serve(name: str, data_dir: Path) -> None:
    """Judges the kernel of each slug that standard input names; a line of JSON for each on standard output."""
    settings = JudgeSettings(data_dir=data_dir)
    device = BUILTIN_BACKENDS.find_device(name, settings)
    backend = BUILTIN_BACKENDS.of(device.kind)
    waiting = warm_runners(backend, device, settings, backend.warm_runners(device), lambda *_: None)
    for line in sys.stdin:
        pack, source = load_pack(ROOT / "challenges" / line.strip()), gpu_latency.kernel_of(line.strip()).read_bytes()
        watch, begun = gpu_latency.Stopwatch(), time.perf_counter()
        with gpu_latency.watched(watch):
            judgement = gpu_latency.judge_one(source, pack, device, settings, waiting, watch)
            watch.stop()
        cases = judgement.measurement.cases if judgement.measurement else ()
        calls = [[float(each) for process in case.processes for each in process] for case in cases]
        said = {"wall": time.perf_counter() - begun, "verdict": judgement.verdict.value, "seconds": watch.seconds}
        print(json.dumps({**said, "message": judgement.message, "calls": calls}), flush=True)
    if waiting is not None:
        waiting.close()


class Child:
    """The process that judges on one device."""

    def __init__(self, name: str, data_dir: Path) -> None:
        self.name = name
        argv = [sys.executable, "-m", "benchmarks.several_gpus", "--serve", name, "--data-dir", str(data_dir)]
        self._process = subprocess.Popen(argv, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._answers: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put("")

    def begin(self, slug: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(slug + "\n")
        self._process.stdin.flush()

    def answer(self, until: float) -> dict[str, Any]:
        """Raises TimeoutError when the time is over, RuntimeError when the process ended."""
        while True:
            try:
                line = self._answers.get(timeout=max(0.1, until - time.monotonic()))
            except queue.Empty:
                raise TimeoutError(f"{self.name} did not answer before the time was over") from None
            if not line:
                raise RuntimeError(f"the process of {self.name} ended; its standard error says why")
            if line.startswith('{"wall"'):
                found: dict[str, Any] = json.loads(line)
                return found

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(3)
        except subprocess.TimeoutExpired:
            self._process.kill()


def spread(answer: dict[str, Any]) -> str:
    return "; ".join(
        f"{statistics.median(calls) * 1e6:.2f} us, CV {statistics.pstdev(calls) / statistics.median(calls):.3%}"
        for calls in answer["calls"]
        if calls
    )


def judge_on(child: Child, slug: str, rounds: int, until: float, label: str) -> list[dict[str, Any]]:
    """Judges ``rounds`` times on one device. Raises what ``Child.answer`` does."""
    answers = []
    for _ in range(rounds):
        child.begin(slug)
        answer = child.answer(until)
        why = f" {answer['message']}" if answer["verdict"] != "AC" else ""
        print(f"{slug} {label} {child.name}: {answer['verdict']}{why} {answer['wall']:.2f} s, {spread(answer)}")
        answers.append(answer)
    sys.stdout.flush()
    return answers


def hourly(answers: list[dict[str, Any]]) -> float:
    return 3600 / statistics.mean(float(answer["wall"]) for answer in answers)


def compare(children: list[Child], slug: str, rounds: int, until: float) -> None:
    with ThreadPoolExecutor(len(children)) as pool:

        def together(rounds: int, label: str) -> list[list[dict[str, Any]]]:
            return list(pool.map(lambda child: judge_on(child, slug, rounds, until, label), children))

        together(1, "cold")
        alone = [judge_on(child, slug, rounds, until, "alone") for child in children]
        beside = together(rounds, "beside")
    one, all_of_them = statistics.mean(map(hourly, alone)), sum(map(hourly, beside))
    print(f"{slug}: {one:.0f} an hour alone, {all_of_them:.0f} together: {all_of_them / one:.2f} times one device")
    columns = [[answer["seconds"] for each in found for answer in each] for found in (alone, beside)]
    print("  " + "mean seconds".ljust(46) + "    alone   beside")
    for name in sorted({name for column in columns for each in column for name in each}):
        means = (statistics.mean(each.get(name, 0.0) for each in column) for column in columns)
        print("  " + name.ljust(46) + "".join(f"{each:9.3f}" for each in means))
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", default="cuda:0,cuda:1,cuda:2,cuda:3", help="names, divided by commas")
    parser.add_argument("--packs", default="matmul,vector-add,softmax", help="slugs, divided by commas")
    parser.add_argument("--seconds", type=float, default=220.0, help="the time for all (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="judgements of each kernel (default: %(default)s)")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--data-dir", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.data_dir)
        return 0
    until = time.monotonic() + options.seconds
    names = options.devices.split(",")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        settings = JudgeSettings(data_dir=Path(temporary))
        for kind in {BUILTIN_BACKENDS.find_device(name, settings).kind for name in names}:
            BUILTIN_BACKENDS.of(kind).prepare(settings)
        print(f"made the judge's libraries, {until - time.monotonic():.0f} s left", flush=True)
        children = [Child(name, Path(temporary)) for name in names]
        try:
            for slug in options.packs.split(","):
                if time.monotonic() < until:
                    compare(children, slug, options.rounds, until)
        except (TimeoutError, RuntimeError) as problem:
            print(f"ended early: {problem}", flush=True)
            return 1
        finally:
            for child in children:
                child.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
