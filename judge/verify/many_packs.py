"""Verifies packs, several at a time: each in a process of its own if more than one may work."""

from __future__ import annotations

import dataclasses
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from records import dataclass

if TYPE_CHECKING:
    from judge.judgement import DeviceInfo, Judgement
    from judge.packs.pack import Pack
    from judge.settings import JudgeSettings
    from judge.verify import Verification
    from judge.verify.oracle_answers import OpenOracle
    from judge.verify.ptx_mutants import KernelMutant

#: Fixed, so that authors can reproduce a failure with the same inputs.
SEED = 1


@dataclass(frozen=True, slots=True)
class Task:
    """How to verify: ``effort`` is a value of judge.verify.Effort; no ``device`` means that nothing is judged.

    Mutants of kernels are tried in full only, of one kernel for ``mutants_s`` seconds, None: all of them.
    ``against`` is a commit to compare versions with; nobody vouches for the authors of ``confined`` packs.
    """

    effort: str
    device: DeviceInfo | None
    settings: JudgeSettings
    against: str | None = None
    confined: bool = False
    mutants_s: float | None = None


def pack_folders_in(paths: Sequence[Path]) -> list[Path]:
    """Returns the packs that the paths name: each is a pack, or a folder of packs."""
    found = []
    for path in paths:
        inside = sorted(each.parent for each in path.glob("*/challenge.toml"))
        found += inside if inside and not (path / "challenge.toml").is_file() else [path]
    return found


def verify_all(
    folders: Sequence[Path], task: Task, jobs: int, say: Callable[[str], None]
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yields each pack's result in plain form, in order, when it is there."""
    if jobs == 1:
        for folder in folders:
            say(folder.name)
            yield folder, verify_one(folder, task, say)
        return
    # Forked children of a process with threads can hang.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        futures = [(folder, pool.submit(verify_one, folder, task)) for folder in folders]
        for folder, future in futures:
            say(folder.name)
            try:
                yield folder, future.result()
            except BrokenProcessPool:
                reason = "a process that verified packs ended; verify this pack alone, with --jobs 1"
                yield folder, failed(folder, "process-ended", reason)


def verify_one(folder: Path, task: Task, say: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Returns the result for one pack in plain form."""
    from judge import pipeline
    from judge.backends.registry import BUILTIN_BACKENDS
    from judge.verify import Effort, SubmissionCheck, verify_pack
    from judge.verify.kernel_mutants import try_kernel_mutants

    device = task.device
    judge = mutate = target = open_oracle = None
    if device is not None:

        def open_oracle_of(pack: Pack) -> AbstractContextManager[OpenOracle | None]:
            return BUILTIN_BACKENDS.of(device.kind).open_oracle(pack, device, task.settings)

        open_oracle = open_oracle_of if task.effort == Effort.FULL else None

        def judge_kernel(source: bytes, pack: Pack) -> Judgement:
            return pipeline.judge(source, pack, device, SEED, task.settings)

        judge = judge_kernel
        target = BUILTIN_BACKENDS.of(device.kind).target(device)
        if task.effort == Effort.FULL and BUILTIN_BACKENDS.of(device.kind).runs_ptx:

            def mutate_kernel(source: bytes, name: str, pack: Pack) -> list[KernelMutant]:
                say(f"{folder.name}: mutants of {name}")
                until = None if task.mutants_s is None else time.monotonic() + task.mutants_s
                tried: list[KernelMutant] = []
                with closing(try_kernel_mutants(source, name, pack, device, task.settings)) as mutants:
                    for mutant in mutants:
                        tried.append(mutant)
                        say(f"{folder.name}: {len(tried)} mutants of {name}")
                        if until is not None and time.monotonic() > until:
                            break
                return tried

            mutate = mutate_kernel

    def tell(check: SubmissionCheck) -> None:
        name = "/".join(check.submission.path.parts[-2:])
        say(f"{folder.name}: {check.judgement.verdict.value:<4}{name}")

    found = verify_pack(
        folder,
        judge,
        target=target,
        mutate=mutate,
        open_oracle=open_oracle,
        effort=Effort(task.effort),
        against=task.against,
        confined=task.confined,
        on_submission=tell,
    )
    return plain(folder, found)


def plain(folder: Path, found: Verification) -> dict[str, Any]:
    """Returns a verification as JSON has it."""
    return {
        "challenge": found.pack.slug if found.pack else folder.name,
        "version": found.pack.version if found.pack else None,
        "digest": found.pack.digest if found.pack else None,
        "ok": found.ok,
        "cases": len(found.pack.cases) if found.pack else 0,
        "findings": [
            {
                "severity": finding.severity.value,
                "code": finding.code,
                "file": str(finding.file),
                "key": finding.key,
                "message": finding.message,
                "text": str(finding),
            }
            for finding in found.findings
        ],
        "submissions": [
            {
                "file": str(check.submission.path),
                "verdict": check.judgement.verdict.value,
                "complaint": check.complaint,
            }
            for check in found.submissions
        ],
        "mutants": [{"name": mutant.name, "killed": mutant.killed} for mutant in found.mutants],
        "kernel_mutants": [dataclasses.asdict(mutant) for mutant in found.kernel_mutants],
        "entry": dataclasses.asdict(found.entry) if found.entry is not None else None,
    }


def failed(folder: Path, code: str, reason: str) -> dict[str, Any]:
    """Returns the result of a pack of which nothing is known but that it could not be verified."""
    finding = {"severity": "error", "code": code, "file": str(folder), "key": "", "message": reason}
    return {
        "challenge": folder.name, "version": None, "digest": None, "ok": False, "cases": 0,
        "findings": [finding | {"text": f"{folder}: {reason} [error: {code}]"}], "submissions": [], "mutants": [],
        "kernel_mutants": [], "entry": None,
    }  # fmt: skip
