"""Runs a submission that a GPU accepted on the emulator, whose checkers find what the GPU hides.

The emulator's functional cases of the challenge run: the small ones with memcheck, racecheck and initcheck, the others
with memcheck. No case runs while a call is timed on this machine: one that runs when timing begins is stopped, and run
again afterwards. All of it has a low priority, so it uses the processors that nothing else needs.
"""

from __future__ import annotations

import dataclasses
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from judge.backends.base import Backend
from judge.backends.registry import BUILTIN_BACKENDS, Backends
from judge.backends.sessions import sessions_for
from judge.bench.timed_calls import beside_no_timed_call
from judge.compile.artifact import Artifact
from judge.errors import Cancelled, InternalError
from judge.judgement import CaseJudgement, DeviceInfo
from judge.languages.registry import BUILTIN_LANGUAGES, Languages
from judge.packs.isolation.client import PROCESSES
from judge.packs.pack import Case, Pack
from judge.recheck import Recheck, conclude, unchecked
from judge.settings import JudgeSettings
from judge.supervisor.case_runner import CaseRunner
from judge.verdict import Verdict

#: No case begins once the cases of a check have taken this long together, in seconds. Nearly all take a few.
_MOST_S = 60.0
_NICENESS = 10


def recheck(
    source: bytes,
    pack: Pack,
    kind: str,
    seed: int,
    settings: JudgeSettings,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    backends: Backends = BUILTIN_BACKENDS,
    languages: Languages = BUILTIN_LANGUAGES,
) -> Recheck:
    """Returns the findings of a ``kind`` of device; waits while calls are timed. Raises InternalError and Cancelled.

    ``seed`` is the submission's.
    """
    started = time.monotonic()
    backend = backends.of(kind)
    device = next(iter(backend.discover(settings).devices), None)
    if device is None:
        raise InternalError(f"this machine has no device of the kind {kind}")
    cases, target = pack.cases_for(kind), backend.target(device)
    if not cases:
        return unchecked("the challenge has no case for the emulator")
    backend.prepare(settings)
    PROCESSES.start()  # before the priority is lowered, since judgements use them as well
    language = languages.of(pack.build.language)
    interrupted = threading.Event()

    def must_end() -> bool:
        return interrupted.is_set() or cancelled()

    def check() -> Recheck:
        # Timing does not wait for the compiler, which may take long, but the compiler begins beside no timed call.
        with beside_no_timed_call(settings.locks, cancelled=must_end):
            pass
        report, artifact = language.build(source, pack, target, settings)
        if artifact is None:
            return unchecked(f"it does not compile for the emulator ({target.arch})", language.headline(report))
        return _run(artifact, source, pack, cases, backend, device, seed, settings, must_end)

    # A session's thread has to outlive it, and what the thread starts has its priority.
    with ThreadPoolExecutor(1, thread_name_prefix="recheck", initializer=_step_back) as pool:
        try:
            found = pool.submit(check).result()
        except BaseException:
            interrupted.set()
            raise
    return dataclasses.replace(found, wall_s=time.monotonic() - started)


def _step_back() -> None:
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


def _run(
    artifact: Artifact,
    source: bytes,
    pack: Pack,
    cases: tuple[Case, ...],
    backend: Backend,
    device: DeviceInfo,
    seed: int,
    settings: JudgeSettings,
    cancelled: Callable[[], bool],
) -> Recheck:
    """Runs the cases up to the first that fails."""
    nobody: Callable[[], bool] = bool  # which returns False
    is_wanted = nobody
    factory = sessions_for(backend, pack, cases, device, settings, cancelled=lambda: is_wanted() or cancelled())
    runner = CaseRunner(factory, pack, artifact, seed, source=source)
    checked = runner.small_cases(cases)
    judged: list[CaseJudgement] = []
    taken_s = 0.0
    try:
        for case in cases:
            while True:
                try:
                    with beside_no_timed_call(settings.locks, cancelled=cancelled) as is_wanted:
                        started = time.monotonic()
                        try:
                            [answer] = runner.judge_cases([case], checked=checked)
                        finally:
                            is_wanted = nobody  # the locks are closed here
                    break
                except Cancelled:
                    runner.end_session()
                    if cancelled():
                        raise
            judged.append(answer.judgement)
            taken_s += time.monotonic() - started
            if answer.judgement.verdict is not Verdict.ACCEPTED or taken_s > _MOST_S:
                break
    finally:
        runner.close()
    return conclude(judged, len(cases))
