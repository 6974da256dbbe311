"""From the command to the score on a GPU: how long 20 judgements take, and where each second goes.

    python benchmarks/gpu_latency.py --device cuda:0
    python benchmarks/gpu_latency.py --device cuda:0 --by-activity --packs vector-add,softmax,mse

The first form runs ``gpujudge judge FILE --json`` for one kernel of each pack, twice: cold (nothing of the pack was
measured on this machine before) and warm, and prints the seconds from the start of each command to its JSON and to its
end, and the median and the 90th percentile of the former. A command that judges again builds nothing, for its kernel is
the same; ``--changed`` adds a comment to the second kernel, so that it is built.

No pack begins after ``--seconds``.

With ``--by-activity`` each kernel is judged in this process, and the time of the thread that waits for the score is
divided among what it does: a row for each activity, a column for each pack. Times of nested activities count once, for
the innermost. The other threads (checks, ends of processes) only appear where the score waits for them.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.backends.sessions import warm_runners
from judge.bench import background, conditions
from judge.bench.oracle.oracle import Oracle
from judge.bench.timing import ahead, case_timer, null_kernel, submission_timer, trial, verification
from judge.judgement import DeviceInfo, Judgement
from judge.packs.collection.loader import load_pack
from judge.packs.isolation.client import PROCESSES
from judge.settings import JudgeSettings
from judge.supervisor import case_runner, session

ROOT = Path(__file__).resolve().parent.parent
PACKS = (
    "vector-add", "matmul", "softmax", "argmax", "rms-norm", "mse", "reduction", "transpose", "relu", "dot-product",
    "layer-norm", "cross-entropy", "prefix-sum", "histogram", "conv2d", "attention", "int8-matmul", "top-k",
    "sort-floats", "fft-1d",
)  # fmt: skip
#: What the waiting thread does: the name of the row, and where it is done.
ACTIVITIES: tuple[tuple[str, Any, str], ...] = (
    ("build: nvcc", pipeline, "build"),
    ("functional cases", case_runner.CaseRunner, "_judge"),
    ("processes come up", session.Session, "wait_until_ready"),
    ("reserve memory, fill the pool", session.Session, "reserve"),
    ("load the submission", session.Session, "load"),
    ("end processes", session.Session, "finish"),
    ("open outputs: to shared memory", session.Session, "open_call"),
    ("host inputs and plan", case_timer.CaseTimer, "_request"),
    ("read the GPU's state", conditions.GpuConditions, "sample"),
    ("null calls beside", null_kernel.NullKernelProbe, "sample"),
    ("prepare null calls", null_kernel.NullKernelProbe, "prepare"),
    ("wait for the null kernel's process", null_kernel.NullKernelProbe, "wait_until_loaded"),
    ("null kernel alone", null_kernel.NullBaselines, "measure_again"),
    ("open outputs", case_timer.CaseTimer, "_open"),
    ("wait for checks", verification.Verifier, "finish_checks"),
    ("wait for checks", trial.Trial, "await_checks"),
    ("wait for ends", background.Background, "wait"),
    ("sessions started ahead", ahead.TimingAhead, "__init__"),
    ("wait for the reserved memory", submission_timer, "_make_all_ready"),
    ("take turns, the rest", submission_timer, "_take_turns"),
    ("open the timer", submission_timer, "open_timer"),
)
OPS = {"UNDO": "undo", "PLACE": "make inputs, flush", "SOLVE": "solve", "COMMIT": "digest, compare"}
_AFTER = "after the score"
#: How often is looked where the waiting thread stands while it does nothing that has a name.
_LOOK_S = 0.01


class Stopwatch:
    """Adds up the seconds of this thread by activity. Nested activities count for the innermost.

    What has no name here goes by the innermost functions of the judge in which the thread was seen (``others``).
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.others: Counter[str] = Counter()
        self._thread = threading.get_ident()
        self._stack: list[str] = []
        self._done = threading.Event()
        threading.Thread(target=self._look, daemon=True).start()
        self.oracles: list[Oracle] = []
        self._since = time.perf_counter()

    @contextlib.contextmanager
    def of(self, name: str) -> Iterator[None]:
        if threading.get_ident() != self._thread:
            yield
            return
        self.lap()
        self._stack.append(name)
        try:
            yield
        finally:
            self.lap()
            self._stack.pop()

    def _look(self) -> None:
        while not self._done.wait(_LOOK_S):
            frame = sys._current_frames().get(self._thread)
            names: list[str] = []
            while frame is not None and len(names) < 3:
                path = Path(frame.f_code.co_filename)
                if path.is_relative_to(ROOT / "judge"):
                    names.append(f"{path.stem}.{frame.f_code.co_name}")
                frame = frame.f_back
            if not self._stack:
                self.others[" < ".join(names) or "the benchmark"] += 1

    def stop(self) -> None:
        """Ends the measurement."""
        self.lap()
        self._done.set()

    @property
    def inside(self) -> list[str]:
        return self._stack

    def lap(self) -> None:
        now = time.perf_counter()
        self.seconds[self._stack[-1] if self._stack else "other"] += now - self._since
        self._since = now


@contextlib.contextmanager
def watched(watch: Stopwatch) -> Iterator[None]:
    """Has every activity measured inside the block."""
    with contextlib.ExitStack() as restore:
        for name, owner, attribute in ACTIVITIES:
            original = getattr(owner, attribute)
            restore.callback(setattr, owner, attribute, original)
            setattr(owner, attribute, _measured(watch, lambda *_, name=name: name, original))
        original = session.Session._request

        def name_of(_self: Any, op: Any, *_: Any) -> str:
            whose = next((each for each in reversed(watch.inside) if each.startswith(("null", "calls"))), "")
            shown = OPS.get(op.name)
            inner = watch.inside[-1] if watch.inside else "other"
            return f"{whose}: {shown}" if whose and shown else inner

        restore.callback(setattr, session.Session, "_request", original)
        session.Session._request = _measured(watch, name_of, original)  # type: ignore[method-assign]
        begun: Any = Oracle.__init__

        def begin(oracle: Oracle, *arguments: Any, **keywords: Any) -> None:
            watch.oracles.append(oracle)
            begun(oracle, *arguments, **keywords)

        restore.callback(setattr, Oracle, "__init__", begun)
        setattr(Oracle, "__init__", begin)  # noqa: B010
        made = case_timer.CaseTimer._make
        restore.callback(setattr, case_timer.CaseTimer, "_make", made)

        def purpose(timer: Any, burst: Any, *_: Any) -> str:
            return (
                f"null kernel alone, {burst.purpose.value}"
                if timer.verifier is None
                else f"calls, {burst.purpose.value}"
            )

        case_timer.CaseTimer._make = _measured(watch, purpose, made)  # type: ignore[method-assign]
        yield


def _measured(watch: Stopwatch, name_of: Callable[..., str], original: Any) -> Any:
    @functools.wraps(original)
    def call(*arguments: Any, **keywords: Any) -> Any:
        with watch.of(name_of(*arguments)):
            return original(*arguments, **keywords)

    return call


def kernel_of(slug: str) -> Path:
    folder = ROOT / "reference_solutions" / slug
    return next(path for name in ("tuned.cu", "plain.cu") if (path := folder / name).exists())


def divide_seconds(
    slugs: Iterable[str], device: DeviceInfo, settings: JudgeSettings, *, pool: bool, cold: bool, changed: bool
) -> None:
    """Prints a table for each pack as soon as it was judged: seconds by activity, cold and warm."""
    backend = BUILTIN_BACKENDS.of(device.kind)
    runners = backend.warm_runners(device)
    waiting = warm_runners(backend, device, settings, runners, print) if pool else None
    walls: dict[str, list[float]] = {"cold": [], "warm": []}
    for slug in slugs:
        pack, source = load_pack(ROOT / "challenges" / slug), kernel_of(slug).read_bytes()
        columns: dict[str, dict[str, float]] = {}
        for state in ("cold", "warm") if cold else ("warm",):
            if state == "cold":
                kept = aside(settings.data_dir / "empty-solve")
            if changed and state == "warm":
                source += b"\n// Edited.\n"
            _wait_for_runners(waiting)
            watch = Stopwatch()
            with watched(watch):
                judgement = judge_one(source, pack, device, settings, waiting, watch)
                watch.stop()
            if state == "cold":
                put_back(kept, settings.data_dir / "empty-solve")
            columns[state] = watch.seconds
            walls[state].append(sum(watch.seconds.values()) - watch.seconds[_AFTER])
            for where, count in watch.others.most_common(8):
                print(f"other: {count * _LOOK_S:.2f} s in {where}")
            for each in watch.oracles:
                print(f"oracle: {each.answers} outputs right, {each.problem or 'no problem'}")
            print(f"\n{slug}, {state}: {_in_a_line(judgement)}", flush=True)
        for name in sorted({name for each in columns.values() for name in each}):
            print("  " + name.ljust(46) + "".join(f"{each.get(name, 0.0):9.3f}" for each in columns.values()))
        print(
            "  " + "in all".ljust(46) + "".join(f"{sum(each.values()):9.3f}" for each in columns.values()), flush=True
        )
    if waiting is not None:
        waiting.close()
    summarize(walls)


def aside(folder: Path) -> Path:
    """Moves what is kept of null kernels to another folder, which it returns: the next judgement times its own."""
    kept = Path(tempfile.mkdtemp(dir=folder.parent))
    if folder.exists():
        folder.rename(kept / folder.name)
    return kept


def put_back(kept: Path, folder: Path) -> None:
    """Moves back what was not measured again."""
    folder.mkdir(exist_ok=True)
    for file in (kept / folder.name).glob("*.json"):
        if not (folder / file.name).exists():
            file.rename(folder / file.name)
    shutil.rmtree(kept)


def _wait_for_runners(waiting: Any) -> None:
    """Returns once the pool has recovered from the judgement before, as it has where submissions come now and then."""
    until = time.monotonic() + 20.0
    while waiting is not None and not waiting.is_full and time.monotonic() < until:
        time.sleep(_LOOK_S)


def summarize(walls: dict[str, list[float]]) -> None:
    """Prints median, 90th percentile and maximum of the seconds until the score."""
    for state, taken in walls.items():
        if taken:
            ordered = sorted(taken)
            p90 = ordered[min(len(ordered) - 1, round(0.9 * len(ordered) - 0.5))]
            print(f"{state}: median {statistics.median(ordered):.2f} s, p90 {p90:.2f} s, longest {ordered[-1]:.2f} s")


def _in_a_line(judgement: Judgement) -> str:
    score = judgement.measurement
    if score is None:
        return f"{judgement.verdict.value} {judgement.message}"
    words = [judgement.verdict.value, f"{score.value * 1e6:.2f} us"]
    if score.low is not None and score.high is not None:
        words.append(f"± {(score.high - score.low) / 2 / score.value:.2%}")
    for case in score.cases:
        words.append(f"{[len(each) for each in case.processes]} calls, {case.stopped_by}, {case.opened} opened")
    return " ".join(words)


def judge_one(
    source: bytes, pack: Any, device: DeviceInfo, settings: JudgeSettings, waiting: Any, watch: Stopwatch
) -> Any:
    """Judges as the CLI does, or, with waiting runners, as a worker does."""
    ending = background.Background()
    if waiting is None:
        judgement = pipeline.judge(source, pack, device, 1, settings, background=ending)
        with watch.of(_AFTER):
            ending.close()
        return judgement
    PROCESSES.start()
    report, artifact = pipeline.build(source, pack, device, settings)
    if artifact is None:
        return pipeline.compile_error(report, pack, device)
    judgement = pipeline.run(
        artifact, report, pack, device, 1, settings, source=source, warm=waiting, background=ending
    )
    with watch.of(_AFTER):
        ending.close()
    return judgement


def time_commands(slugs: Iterable[str], device: str, data_dir: Path, *, changed: bool) -> None:
    walls: dict[str, list[float]] = {"cold": [], "warm": []}
    for slug in slugs:
        for state in ("cold", "warm"):
            kernel = kernel_of(slug)
            if changed and state == "warm":
                edited = data_dir / f"{slug}{kernel.suffix}"
                edited.write_text(f"{kernel.read_text()}\n// Edited.\n")
                kernel = edited
            command = [sys.executable, "-c", "from gpujudge import main; main()", "judge", str(kernel)]
            command += ["-c", slug, "-d", device, "--no-recheck", "--json", "--data-dir", str(data_dir)]
            answered_s, ended_s, said = time_command(command)
            walls[state].append(answered_s)
            print(f"{slug} {state}: {answered_s:.2f} s, ended after {ended_s:.2f} s ({said})", flush=True)
    summarize(walls)


def time_command(command: list[str]) -> tuple[float, float, str]:
    """Returns the seconds until the command's JSON was there and until it ended, and the verdict in words."""
    begun = time.perf_counter()
    with tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=ROOT) as process:
            assert process.stdout is not None
            lines = []
            for line in process.stdout:
                lines.append(line)
                if line == "}\n":
                    break
            answered_s = time.perf_counter() - begun
        ended_s = time.perf_counter() - begun
        errors.seek(0)
        try:
            found = json.loads("".join(lines))
            score = found.get("measurement") or {}
            said = f"{found['verdict']} {score.get('value', 0) * 1e6:.2f} us, judged in {found['wall_s']:.2f} s"
            if found["verdict"] != "AC":
                said += f": {found['message']}"
        except (ValueError, KeyError):
            said = errors.read()[-300:]
    return answered_s, ended_s, said


def within(slugs: list[str], seconds: float) -> Iterator[str]:
    """The slugs, as long as the time lasts; says which are left out."""
    until = time.monotonic() + seconds
    for number, slug in enumerate(slugs):
        if time.monotonic() > until:
            print(f"the time is over; left out: {', '.join(slugs[number:])}", flush=True)
            return
        yield slug


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--packs", default=",".join(PACKS), help="slugs, divided by commas")
    parser.add_argument("--seconds", type=float, default=540.0, help="no pack begins later (default: %(default)s)")
    parser.add_argument("--by-activity", action="store_true", help="divide the seconds of judgements in this process")
    parser.add_argument(
        "--pool", action="store_true", help="with --by-activity: with warm runners, as a worker has them"
    )
    parser.add_argument("--changed", action="store_true", help="the second kernel is not the first one to the letter")
    parser.add_argument("--warm-only", action="store_true", help="with --by-activity: leave out the first judgement")
    parser.add_argument("--data-dir", type=Path, help="for what is built once; else a new folder")
    options = parser.parse_args()
    slugs = within(options.packs.split(","), options.seconds)
    with tempfile.TemporaryDirectory() as temporary:
        data_dir = options.data_dir or Path(temporary)
        settings = JudgeSettings(data_dir=data_dir)
        device = BUILTIN_BACKENDS.find_device(options.device, settings)
        BUILTIN_BACKENDS.of(device.kind).prepare(settings)
        if options.by_activity:
            divide_seconds(
                slugs, device, settings, pool=options.pool, cold=not options.warm_only, changed=options.changed
            )
        else:
            time_commands(slugs, options.device, data_dir, changed=options.changed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
