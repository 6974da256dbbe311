"""Judges every pack's ``submissions/`` and ``reference_solutions/`` and compares verdicts with the expected ones.

    python benchmarks/expected_verdicts.py --device emulator
    python benchmarks/expected_verdicts.py --device cuda:0 --jobs 12 --record verdicts.jsonl --within 500

The expected verdict is the folder's name, narrowed by a first-line ``// expect: verdict=...`` comment; reference
solutions, with the steps of their ladders, are expected to be accepted. Prints one line a file; exits with 1 when any
verdict differs, and with 3 when ``--within`` ended it early. With ``--record`` each judgement is added to a file as
soon as it is made, and what stands there, of the same source, pack and device, is not judged again: a call goes on
where the last one stopped.

With ``--new`` only reference solutions are judged, those of which ``reference_solutions/times/`` has no time on the
device yet; ``benchmarks/reference_solutions.py --merge`` adds what was recorded.

With ``--untimed`` no time is measured, which takes most of a judgement on a GPU: each benchmark is called once, its
outputs are checked as those of a timed call, and ``--jobs`` submissions run at a time.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.backends.sessions import warm_runners
from judge.bench.background import Background
from judge.compile.artifact import Artifact
from judge.compile.required import architecture_for, unmet
from judge.judgement import BuildReport, DeviceInfo, Judgement
from judge.judgement_json import to_json
from judge.languages.registry import BUILTIN_LANGUAGES
from judge.packs.collection.loader import load_pack
from judge.packs.pack import Pack
from judge.packs.submissions import ListedSubmission, listed_submissions
from judge.settings import JudgeSettings
from judge.verdict import Verdict

ROOT = Path(__file__).resolve().parent.parent
#: Submissions that are built ahead of the one that runs, for each build at a time; where times are measured, all of
#: them before the first one runs, since compilers would disturb what is timed.
AHEAD = 2

Built = tuple[BuildReport, Artifact | None]


@dataclass(frozen=True, slots=True)
class Task:
    """One file to judge, with the verdict that it must get."""

    expected: ListedSubmission
    pack: Pack

    @property
    def name(self) -> str:
        """The file's path in the repository."""
        return str(self.expected.path.relative_to(ROOT))

    def key(self, device: DeviceInfo, *, timed: bool) -> str:
        """Names the inputs of the judgement: the source, the pack, the device, and whether times are measured."""
        source = hashlib.sha256(self.expected.path.read_bytes()).hexdigest()[:16]
        return f"{device.key} {'timed' if timed else 'untimed'} {self.pack.digest[:16]} {source} {self.name}"


def corpus(pack: Pack, *, solutions_only: bool) -> Iterator[Task]:
    """Yields a pack's files."""
    if not solutions_only:
        for submission in listed_submissions(pack):
            yield Task(submission, pack)
    solutions = ROOT / "reference_solutions" / pack.slug
    for path in sorted([*solutions.glob("*.cu"), *solutions.glob("ladder/*.cu")]):
        yield Task(ListedSubmission(path, frozenset({Verdict.ACCEPTED}), None), pack)


def built_ahead(
    tasks: list[Task], build: Callable[[Task], Built], jobs: int, *, all_first: bool
) -> Iterator[tuple[Task, Future[Built]]]:
    """Yields each task with its build, which began while earlier tasks ran, or ended before the first one."""
    with ThreadPoolExecutor(jobs) as pool:
        begun = [pool.submit(build, task) for task in (tasks if all_first else tasks[: jobs * AHEAD])]
        if all_first:
            wait(begun)
        try:
            for index, task in enumerate(tasks):
                yield task, begun[index]
                if len(begun) < len(tasks):
                    begun.append(pool.submit(build, tasks[len(begun)]))
        finally:
            pool.shutdown(cancel_futures=True)


@contextlib.contextmanager
def judging(device: DeviceInfo, settings: JudgeSettings) -> Iterator[Callable[[Task, Built], Judgement]]:
    """Yields a function that judges what is built as a worker does: with warm runners, ending processes meanwhile."""
    background = Background()
    backend = BUILTIN_BACKENDS.of(device.kind)
    backend.prepare(settings)
    warm = warm_runners(backend, device, settings, 1, lambda problem: print(f"no warm runner: {problem}"))

    def judge(task: Task, built: Built) -> Judgement:
        report, artifact = built
        if artifact is None:
            return pipeline.compile_error(report, task.pack, device)
        for error in background.wait():
            print(f"a process did not end: {error}")
        return pipeline.run(artifact, report, task.pack, device, 1, settings, warm=warm, background=background)

    try:
        yield judge
    finally:
        background.close()
        warm.close()


def timed_ones(
    tasks: list[Task], device: DeviceInfo, settings: JudgeSettings, jobs: int, until: float
) -> Iterator[tuple[Task, Judgement]]:
    """Yields each task with its whole judgement; begins none after ``until``."""
    is_gpu = device.kind == "cuda"
    target = BUILTIN_BACKENDS.of(device.kind).target(device)

    def build(task: Task) -> Built:
        if is_gpu:
            BUILTIN_LANGUAGES.of(task.pack.build.language).build_null_kernel(task.pack, target, settings)
        return pipeline.build(task.expected.path.read_bytes(), task.pack, device, settings)

    with judging(device, settings) as judge:
        for task, built in built_ahead(tasks, build, jobs, all_first=is_gpu):
            if time.monotonic() > until:
                break
            yield task, judge(task, built.result())


def untimed_ones(
    tasks: list[Task], device: DeviceInfo, settings: JudgeSettings, jobs: int, until: float
) -> Iterator[tuple[Task, Judgement]]:
    """Yields tasks with their judgements without times as they end, ``jobs`` of which are made at a time."""
    BUILTIN_BACKENDS.of(device.kind).prepare(settings)

    def judge(task: Task) -> tuple[Task, Judgement] | None:
        if time.monotonic() > until:
            return None
        built = pipeline.build(task.expected.path.read_bytes(), task.pack, device, settings)
        return task, untimed(task, built, device, settings)

    with ThreadPoolExecutor(jobs) as pool:
        for made in as_completed([pool.submit(judge, task) for task in tasks]):
            if (found := made.result()) is not None:
                yield found


def untimed(task: Task, built: Built, device: DeviceInfo, settings: JudgeSettings) -> Judgement:
    """Judges all functional cases, then calls each benchmark once and checks what the pack checks of a timed call."""
    report, artifact = built
    if artifact is None:
        return pipeline.compile_error(report, task.pack, device)
    return pipeline.run(artifact, report, task.pack, device, 1, settings, mode=pipeline.Mode.CHECK)


def recorded(path: Path | None) -> dict[str, dict[str, Any]]:
    """Reads the judgements of earlier calls by their keys."""
    if path is None or not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    return {row["key"]: row for row in rows}


def without_time(device: DeviceInfo) -> set[Path]:
    """Returns the reference solutions of which no time on the device is on record."""
    solutions = ROOT / "reference_solutions"
    times = solutions / "times" / f"{device.key}.json"
    timed = set(json.loads(times.read_text())["kernels"]) if times.exists() else set()
    return {path for path in solutions.rglob("*.cu") if str(path.relative_to(solutions)) not in timed}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="emulator", help="emulator, cuda:0, ... (default: %(default)s)")
    parser.add_argument("--challenge", action="append", help="only this one (may be repeated)")
    parser.add_argument("--shard", default="1/1", help="only the I-th of N parts, as I/N")
    parser.add_argument("--solutions-only", action="store_true", help="leave out the packs' own submissions")
    parser.add_argument("--only", metavar="GLOB", help="only these paths, such as 'reference_solutions/*/ladder/*'")
    parser.add_argument("--new", action="store_true", help="only reference solutions without a time on the device")
    parser.add_argument(
        "--jobs", type=int, default=1, help="builds, or untimed judgements, at a time (default: %(default)s)"
    )
    parser.add_argument("--record", type=Path, help="add each judgement to this file, and skip what stands there")
    parser.add_argument("--untimed", action="store_true", help="call each benchmark once and measure nothing")
    parser.add_argument("--within", type=float, default=float("inf"), help="begin no judgement after so many seconds")
    arguments = parser.parse_args()
    begun = time.monotonic()
    part, parts = (int(number) for number in arguments.shard.split("/"))

    differing, done = [], 0
    known = recorded(arguments.record)
    with tempfile.TemporaryDirectory(prefix="gpujudge-verdicts-") as data_dir:
        settings = JudgeSettings(data_dir=Path(data_dir))
        device = BUILTIN_BACKENDS.find_device(arguments.device, settings)
        tasks: list[Task] = []
        for folder in sorted(path.parent for path in (ROOT / "challenges").glob("*/challenge.toml")):
            if not arguments.challenge or folder.name in arguments.challenge:
                tasks += corpus(load_pack(folder), solutions_only=arguments.solutions_only)
        target = BUILTIN_BACKENDS.of(device.kind).target(device)
        fitting = []
        for task in tasks:
            source = task.expected.path.read_bytes()
            if why := unmet(source, architecture_for(source, target)):
                print(f"left out  {task.name}  {why}", flush=True)
            else:
                fitting.append(task)
        tasks = fitting
        if arguments.new:
            new = without_time(device)
            tasks = [task for task in tasks if task.expected.path in new]
        if arguments.only:
            tasks = [task for task in tasks if fnmatch.fnmatch(task.name, arguments.only)]
        tasks = [
            task for task in tasks[part - 1 :: parts] if task.key(device, timed=not arguments.untimed) not in known
        ]

        until = begun + arguments.within
        run = untimed_ones if arguments.untimed else timed_ones
        for task, judgement in run(tasks, device, settings, arguments.jobs, until):
            done += 1
            complaint = task.expected.complaint(judgement)
            score = f"{judgement.measurement.value:.4g}" if judgement.measurement else ""
            told = f"{'BAD' if complaint else 'ok '} {judgement.verdict} {judgement.wall_s:6.2f} s"
            print(f"{told}  {task.name}  {complaint or score}", flush=True)
            if complaint:
                differing.append(task.name)
            if arguments.record:
                key = task.key(device, timed=not arguments.untimed)
                row = {"key": key, "complaint": complaint, "judgement": to_json(judgement)}
                with arguments.record.open("a") as file:
                    file.write(json.dumps(row) + "\n")
    late = len(tasks) - done
    print(f"{done} judged on {device.name}, {len(differing)} with another verdict than expected")
    if late:
        print(f"{late} not judged within {arguments.within:.0f} s")
    return 1 if differing else 3 if late else 0


if __name__ == "__main__":
    sys.exit(main())
