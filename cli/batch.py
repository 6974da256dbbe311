"""``gpujudge judge DIR... --jsonl OUT``: many kernels, a line for each as soon as its judgement is known."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import io
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.console import say
from cli.errors import CliError, UsageError
from cli.extras import need
from cli.kernel_files import kernel_paths, read_kernel
from cli.result_lines import ResultLines
from judge.batch.kernels import Kernel, Plan, Result, Target
from judge.kinds import KINDS
from judge.verdict import Verdict
from records import dataclass

if TYPE_CHECKING:
    from judge.settings import JudgeSettings

#: A process that judges takes about so much memory, with what it starts.
_MEMORY_BYTES = 1 << 30
#: Seconds between two lines of progress, on a terminal and elsewhere.
_ON_TERMINAL_S, _ELSEWHERE_S = 0.5, 30.0
#: The seconds at the start that say nothing about the rate.
_SETTLING_S = 5.0
#: The most kernels on one GPU at a time where nothing is timed.
_MOST_BESIDE = 8
_EMULATOR = "emulator"


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a batch on the command line. ``precision`` is in ``settings``."""

    devices: str
    jobs: int | None
    mode: str
    screen: str | None
    seed: int
    packs: list[Path]


def parse_precision(text: str) -> float:
    """Returns a share, of ``2%`` or ``0.02``. Raises UsageError unless it is above 0 and at most 0.5."""
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = 0.0
    if not 0 < share <= 0.5:
        raise UsageError(f"--precision is a share such as 2% or 0.02, at most 50%, not {text!r}")
    return share


def make_plan(options: Options, settings: JudgeSettings) -> tuple[Plan, JudgeSettings]:
    """Finds the devices, and returns how to judge on them. Raises UsageError."""
    targets = _targets(options.devices, settings)
    kinds = {KINDS[target.device.kind].is_real for target in targets}
    if len(kinds) > 1:
        hint = "--screen emulator has the emulator judge first."
        raise UsageError("a batch runs on GPUs or on the emulator, not on both", hint=hint)
    screen = None
    if options.screen is not None:
        if options.screen != _EMULATOR:
            raise UsageError(f"--screen is emulator, not {options.screen!r}")
        if kinds == {False}:
            raise UsageError("--screen is for batches on GPUs: leave it out, or name GPUs by --devices")
        screen = _target(_EMULATOR, settings)
    processors = len(os.sched_getaffinity(0))
    jobs = options.jobs or min(processors if kinds == {False} else max(1, processors // 2), _fitting())
    # Kernels side by side keep the processors busy better than threads of one.
    threads = settings.emulator_threads or min(8, max(1, processors // jobs))
    beside = min(_MOST_BESIDE, max(1, processors // (2 * len(targets)))) if options.mode == "check" else 1
    packs = tuple(str(folder) for folder in options.packs)
    plan = Plan(targets, screen, jobs, options.mode, options.seed, packs, beside)
    return plan, dataclasses.replace(settings, emulator_threads=threads)


def judge_folders(
    given: list[Path], challenge: str | None, out: Path, options: Options, settings: JudgeSettings, *, resume: bool
) -> int:
    """Judges the kernels in folders and files, writes a line for each, and returns the worst exit code."""
    paths = kernel_paths(given)
    plan, settings = make_plan(options, settings)
    slugs = need("judge.packs.collection.registry", "judge").slugs(options.packs)
    results = ResultLines(out, resume=resume)
    try:
        keys = {str(path): None for path in paths}
        known = _known(results, set(keys), challenge, slugs, plan, settings) if resume else {}
        worst = max((_exit_code(line) for line in results.lines), default=0)
        progress = Progress(len(paths), sum(name in known for name in keys))
        kernels = (read_kernel(path, challenge, slugs) for path in paths if str(path) not in known)
        with _judging(plan, settings, kernels) as judged:
            for result in judged:
                results.add(_line(result, plan, settings))
                worst = max(worst, result.exit_code)
                progress.tell(result, results)
        progress.end()
        require_written(results)
    finally:
        results.close()
    return worst


def judge_stream(options: Options, settings: JudgeSettings) -> int:
    """Judges kernels that come as JSON lines on stdin; answers on stdout. Returns the exit code of the worst."""
    plan, settings = make_plan(options, settings)
    worst = 0
    with _judging(plan, settings, _streamed()) as judged:
        for result in judged:
            line = {"id": json.loads(result.kernel.name), **result.to_json()}
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()
            worst = max(worst, result.exit_code)
    return worst


def _streamed() -> Iterator[Kernel | Result]:
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")
    for number, text in enumerate(sys.stdin, 1):
        told: Any = None
        name = json.dumps(number)
        try:
            told = json.loads(text)
            name = json.dumps(told.get("id", number))
            source = told["source"].encode("utf-8", "surrogateescape")
            seed = told.get("seed")
            language = told.get("language")
            if not isinstance(told["challenge"], str) or not (seed is None or type(seed) is int):
                raise TypeError
            if not (language is None or isinstance(language, str)):
                raise TypeError
            yield Kernel(name, told["challenge"], source, None if seed is None else seed % 2**63, language)
        except (ValueError, KeyError, TypeError, AttributeError):
            why = (
                'is not a kernel: a line is {"id": ..., "challenge": "SLUG", "source": "..."}, with "seed" and '
                '"language" if you like'
            )
            yield Result(Kernel(name, "", b""), problem=f"line {number} {why}")


@contextlib.contextmanager
def _judging(plan: Plan, settings: JudgeSettings, kernels: Iterable[Kernel | Result]) -> Iterator[Iterator[Result]]:
    registry = need("judge.backends.registry", "judge").BUILTIN_BACKENDS
    internal_error = need("judge.errors", "judge").InternalError
    for target in (*plan.targets, *((plan.screen,) if plan.screen else ())):
        try:
            registry.of(target.device.kind).prepare(settings, say)
        except internal_error as error:
            raise CliError(error.message, hint=error.remedy) from None
    batch = need("judge.batch.pool", "judge").Batch(plan, settings)
    try:
        yield batch.results(kernels)
    finally:
        batch.close()


def _targets(names: str, settings: JudgeSettings) -> tuple[Target, ...]:
    registry = need("judge.backends.registry", "judge").BUILTIN_BACKENDS
    if names == "all":
        found = [device for device in registry.list_devices(settings) if KINDS[device.kind].is_real]
        if not found:
            raise UsageError("there is no GPU here", hint="--devices emulator judges on the emulator.")
        return tuple(Target(registry.selector(device), device) for device in found)
    listed = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    if not listed:
        raise UsageError("--devices names none", hint="It takes cuda:0,cuda:1 or all or emulator.")
    return tuple(_target(name, settings) for name in listed)


def _target(name: str, settings: JudgeSettings) -> Target:
    registry = need("judge.backends.registry", "judge")
    try:
        return Target(name, registry.BUILTIN_BACKENDS.find_device(name, settings))
    except registry.UnknownDevice as error:
        raise UsageError(str(error)) from None


def _fitting() -> int:
    """Returns how many processes fit into the memory that is free."""
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
        return max(1, free // _MEMORY_BYTES)
    return 1 << 10


def _line(result: Result, plan: Plan, settings: JudgeSettings) -> dict[str, Any]:
    return {"file": result.kernel.name, "key": _key(result.kernel, plan, settings), **result.to_json()}


def _key(kernel: Kernel, plan: Plan, settings: JudgeSettings) -> str:
    """Names the inputs of a judgement: where they differ, ``--resume`` judges again."""
    kinds = sorted({target.device.key for target in plan.targets})
    about = [
        kernel.name, kernel.challenge, kernel.language, kinds, plan.mode, plan.screen is not None, settings.precision,
    ]  # fmt: skip
    digest = hashlib.sha256(json.dumps(about).encode())
    digest.update(kernel.source)
    return digest.hexdigest()[:16]


def _known(
    results: ResultLines,
    names: Collection[str],
    challenge: str | None,
    slugs: Collection[str],
    plan: Plan,
    settings: JudgeSettings,
) -> dict[str, str]:
    """Returns the files whose lines are there and hold; removes lines of files that are to be judged again.

    Those are files that have changed, that could not be read, or that the judge failed on (IE).
    """
    known: dict[str, str] = {}
    wanted = []
    for number, line in enumerate(results.lines):
        name = line["file"]
        if name in names:
            if name in known or line.get("verdict") in (None, Verdict.INTERNAL_ERROR.value):
                continue
            kernel = read_kernel(Path(name), challenge, slugs)
            if not isinstance(kernel, Kernel) or _key(kernel, plan, settings) != line.get("key"):
                continue
            known[name] = line["verdict"]
        wanted.append(number)
    results.keep(wanted)
    return known


def _exit_code(line: dict[str, Any]) -> int:
    try:
        verdict = None if line["verdict"] is None else Verdict(line["verdict"])
    except (KeyError, ValueError):
        return 0
    return Result(Kernel("", "", b""), verdict=verdict).exit_code


def require_written(results: ResultLines) -> None:
    """Tries once more to write what a full disk did not take; prints it if that fails. Raises CliError then."""
    results.write_rest()
    if not results.unwritten:
        return
    for line in results.unwritten:
        sys.stdout.write(line.decode("utf-8", "surrogateescape"))
    raise CliError(
        f"{len(results.unwritten)} results could not be written to {results.path}: {results.why_unwritten}",
        hint="They were printed. Make room, append them to the file, or judge these kernels again with --resume.",
    )


class Progress:
    """Tells on stderr how far the batch is, at which rate, and how long it will take."""

    def __init__(self, total: int, done_before: int) -> None:
        self._total, self._before = total, done_before
        self._done = 0
        self._counts: Counter[str] = Counter()
        self._begun_s = self._told_s = time.monotonic()
        self._on_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._has_told_of_disk = False
        if done_before:
            say(f"{done_before} of {total} have their line already")

    def tell(self, result: Result, results: ResultLines) -> None:
        """Counts a result; tells now and then."""
        self._done += 1
        self._counts["no kernel" if result.verdict is None else result.verdict.value] += 1
        if results.unwritten and not self._has_told_of_disk:
            self._has_told_of_disk = True
            say(f"cannot write {results.path}: {results.why_unwritten}; results wait in memory", "bold red")
        now_s = time.monotonic()
        if now_s - self._told_s < (_ON_TERMINAL_S if self._on_terminal else _ELSEWHERE_S):
            return
        self._told_s = now_s
        if self._on_terminal:
            sys.stderr.write(f"\r\x1b[2K{self._text(now_s)}")
            sys.stderr.flush()
        else:
            say(self._text(now_s))

    def end(self) -> None:
        """Tells for the last time."""
        if self._on_terminal:
            sys.stderr.write("\r\x1b[2K")
        say(self._text(time.monotonic()))

    def _text(self, now_s: float) -> str:
        done, wall_s = self._before + self._done, now_s - self._begun_s
        counts = ", ".join(f"{count} {name}" for name, count in self._counts.most_common())
        text = f"{done} of {self._total}" + (f": {counts}" if counts else "")
        if self._done and wall_s > 0:
            text += f"; {self._done / wall_s * 3600:,.0f} an hour"
            if (left := self._total - done) and wall_s > _SETTLING_S:
                text += f"; about {_in_words(left * wall_s / self._done)} left"
        return text


def _in_words(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
