"""Chooses the configurations of autotuned kernels by the times that they are modelled to take.

A process in the jail calls ``solve`` for each of the pack's benchmarks, once with the first configuration of every such
kernel, once with the second, and so on; the counts of each call give the times. The process is the submission's own, so
this is a claim, which decides what code of its own the submission runs and nothing else.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence

from emulator.model import load_gpu
from judge.bench.modelled import kernel_seconds
from judge.compile.artifact import Artifact
from judge.judgement import BuildReport
from judge.languages.base import Language
from judge.packs.data.inputs import make_inputs
from judge.packs.pack import Case, Pack
from judge.settings import JudgeSettings
from judge.supervisor.factory import SessionFactory
from judge.supervisor.layout import lay_out
from judge.supervisor.process import RequestRefused, RunnerEnded
from judge.supervisor.session import Session
from judge.supervisor.verdict_rules import outcome_of_call
from judge.verdict import Verdict
from judge.wire.messages import Watch, kernel_time_factor
from judge.wire.python_program import Choice, TunedConfig, TunedKernel
from records import dataclass

_SEED = 0x7EA5_0000
_NOT_TRIED = "not tried in time"
_FAILED = "failed"


@dataclass(frozen=True, slots=True)
class _Trial:
    """A configuration of a kernel, with its time for the benchmarks in seconds, or the reason why there is none."""

    config: TunedConfig
    seconds: float | None
    problem: str = ""

    def in_words(self) -> str:
        """Returns e.g. ``2 of 4 (BLOCK=64) 12.3 µs``."""
        return f"{self.config.told} {self.problem if self.seconds is None else f'{self.seconds * 1e6:.3g} µs'}"


def choose_configurations(
    language: Language, artifact: Artifact, report: BuildReport, pack: Pack, benchmarks: Sequence[Case], seed: int,
    settings: JudgeSettings, factory: SessionFactory, *, clock: Callable[[], float] = time.monotonic,
) -> tuple[Artifact, BuildReport]:  # fmt: skip
    """Returns the artifact with its autotuned kernels' fastest configurations, and the report with a note on each.

    What is not modelled within the settings' time is not taken. Raises InternalError and Cancelled.
    """
    known = language.tuned(artifact)
    tuned = [kernel for kernel in known if len(kernel.ready) > 1]
    alone = [kernel for kernel in known if len(kernel.ready) == 1 and not kernel.configs[0].problem]
    notes = [
        f"autotune: {kernel.name} takes configuration {kernel.ready[0].told}, since no other compiles: "
        f"{kernel.configs[1].problem}"
        for kernel in alone
        if len(kernel.configs) > 1
    ]
    if not tuned or not benchmarks:
        return artifact, dataclasses.replace(report, notes=(*report.notes, *notes))
    rounds = max(len(kernel.ready) for kernel in tuned)
    deadline_s = clock() + settings.autotune_s
    bounded = _bounded(factory, settings.autotune_s)
    tuning = _Tuning(language, artifact, report, pack, tuned, settings, bounded, lambda: clock() < deadline_s)
    found = [tuning.times(case, rounds, seed) for case in benchmarks]
    choice = []
    for kernel in tuned:
        trials = _trials(kernel, found)
        timed = [trial for trial in trials if trial.seconds is not None]
        chosen = min(timed, key=lambda trial: trial.seconds or 0.0).config if timed else kernel.ready[0]
        choice.append((kernel.place, chosen.told))
        notes.append(_note(kernel, chosen, trials))
    return language.choose(artifact, [tuple(choice)]), dataclasses.replace(report, notes=(*report.notes, *notes))


def _bounded(factory: SessionFactory, most_s: float) -> SessionFactory:
    """Returns a factory in whose sessions a call with counts takes no more than half of ``most_s``.

    One may never end, and others are tried after it.
    """
    call_s = min(factory.bounds.call_s, max(1.0, most_s / 2) / kernel_time_factor(Watch.PROFILE))
    return dataclasses.replace(
        factory,
        bounds=dataclasses.replace(factory.bounds, call_s=call_s),
        submission=dataclasses.replace(factory.submission, wall_s=call_s),
    )


#: Of a round: the seconds of each kernel by its name; or the reason why there are none.
_Round = dict[str, float] | str


@dataclass(frozen=True, slots=True)
class _Tuning:
    language: Language
    artifact: Artifact
    report: BuildReport
    pack: Pack
    tuned: Sequence[TunedKernel]
    settings: JudgeSettings
    factory: SessionFactory
    has_time: Callable[[], bool]

    def times(self, case: Case, rounds: int, seed: int) -> list[_Round]:
        """Calls ``solve`` once for each round. A process that a round has spoiled is replaced by another."""
        inputs = make_inputs(self.pack, case, seed ^ _SEED)
        found: list[_Round] = []
        while len(found) < rounds and self.has_time():
            session = self.factory.start()
            try:
                session.load(self.language.choose(self.artifact, [self._choice(i) for i in range(len(found), rounds)]))
                while len(found) < rounds and self.has_time():
                    seconds = self._call(session, case, inputs)
                    found.append(seconds)
                    if isinstance(seconds, str):
                        break
            except (RequestRefused, RunnerEnded):
                found.append(_FAILED)
            finally:
                session.finish()
        return found + [_NOT_TRIED] * (rounds - len(found))

    def _choice(self, number: int) -> Choice:
        """Returns the configurations of a round. Kernels with fewer of them than others keep their last one."""
        return tuple((kernel.place, kernel.ready[min(number, len(kernel.ready) - 1)].told) for kernel in self.tuned)

    def _call(self, session: Session, case: Case, inputs: dict[str, object]) -> _Round:
        layout = lay_out(self.pack, case, inputs)
        layout.put_inputs(session.runner.inputs, inputs)
        layout.clear_outputs(session.runner.outputs)
        record = session.call(dataclasses.replace(layout.request, watch=Watch.PROFILE))
        names = [argument.name for argument in self.pack.arguments]
        outcome = outcome_of_call(record.ran, record.fetched, names, self.factory.bounds.call_s, lambda: None)
        if outcome.verdict is not Verdict.ACCEPTED or record.fetched.report is None:
            return f"{_FAILED} ({outcome.verdict.value})"
        return kernel_seconds(record.fetched.report, self.report, load_gpu(self.settings.emulator_gpu))


def _trials(kernel: TunedKernel, found: Sequence[Sequence[_Round]]) -> list[_Trial]:
    """Returns the trial of each configuration: the sum of its times for the benchmarks."""
    trials = []
    number = 0
    for config in kernel.configs:
        if config.problem:
            trials.append(_Trial(config, None, "does not compile"))
            continue
        rounds = [rounds[number] for rounds in found]
        number += 1
        problem = next((each for each in rounds if isinstance(each, str)), "")
        launched = [each[name] for each in rounds if isinstance(each, dict) for name in config.kernels if name in each]
        if problem or not launched:
            trials.append(_Trial(config, None, problem or "not launched for the benchmark"))
        else:
            trials.append(_Trial(config, sum(launched)))
    return trials


def _note(kernel: TunedKernel, chosen: TunedConfig, trials: Sequence[_Trial]) -> str:
    timed = sorted((trial for trial in trials if trial.seconds is not None), key=lambda trial: trial.seconds or 0.0)
    told = [trial.in_words() for trial in (*timed, *(trial for trial in trials if trial.seconds is None))]
    how = "the first that compiles" if not timed else "the fastest as modelled"
    return f"autotune: {kernel.name} takes configuration {chosen.told.partition(' of ')[0]}, {how}: {'; '.join(told)}"
