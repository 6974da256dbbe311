"""Tries mutants of an accepted kernel on a pack's cases: each is a mistake that some case must refuse.

The kernel is compiled once. Its PTX, that of each kernel which the cases launch, is changed one instruction at a time
(judge.verify.ptx_mutants), and one
runner in the jail loads the library again with each change. A mutant that every case accepts is tried on further
inputs: other sizes and other seeds. If these refuse it, it survived, and the cases have a gap; if they do not either,
nothing tells it from the kernel, and it counts as equivalent.
"""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Generator, Iterator, Sequence
from itertools import islice, zip_longest

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.backends.sessions import sessions_for
from judge.compile.artifact import Artifact
from judge.errors import InternalError
from judge.judgement import DeviceInfo
from judge.packs import sizes
from judge.packs.data.inputs import Inputs, make_inputs
from judge.packs.judging import Checker, make_checker
from judge.packs.pack import Case, Pack, PackLimits
from judge.settings import JudgeSettings
from judge.supervisor.factory import SessionFactory
from judge.supervisor.layout import lay_out
from judge.supervisor.likely_causes import ptx_texts
from judge.supervisor.process import RequestRefused, RunnerEnded
from judge.supervisor.session import Session
from judge.supervisor.verdict_rules import RunnerKilled, outcome_of_call
from judge.verdict import Verdict
from judge.verify.ptx_mutants import Fate, KernelMutant, PtxMutant, ptx_mutants
from judge.wire.frames import MAX_PAYLOAD
from judge.wire.messages import Watch
from records import dataclass

#: A mutant may loop for ever; the kernels of packs need far less than this for the cases that are used here.
_WALL_S = 1.0
_TOO_LONG = "cudaErrorLaunchTimeout"
#: Cases up to this size are used: the emulator judges them in a moment.
_MAX_ELEMENTS = 400_000
_MAX_OPERATIONS = 2e7
#: How many further inputs an accepted mutant is tried on.
_TRIALS = 12
_FIRST_SEED = 1
#: A runner loads so many mutants; each takes memory for good.
_MAX_LOADS = 200
#: The orders of warps and blocks, each with its seed, in which a mutant has to be accepted: a missing barrier shows in
#: some of them only.
_ORDERS = ((Watch.NOTHING, 0), (Watch.RUNS_AHEAD, 1), (Watch.NOTHING, 2), (Watch.RUNS_AHEAD, 3))
#: Stands for no change.
_UNCHANGED = ""
_ENTRY = re.compile(r"\.entry\s+([\w$]+)")
#: What the emulator says of PTX that is not valid: no kernel could have been compiled to it.
_INVALID = ("cudaErrorInvalidPtx", "cudaErrorNotSupported", "cudaErrorUnsupportedPtxVersion", "cudaErrorInvalidSource")


@dataclass(frozen=True, slots=True)
class _Trial:
    """A case with its inputs, and what checks the outputs."""

    name: str
    case: Case
    inputs: Inputs
    check: Checker


def try_kernel_mutants(
    source: bytes, name: str, pack: Pack, device: DeviceInfo, settings: JudgeSettings, *, most: int = 50
) -> Generator[KernelMutant]:
    """Yields the fate of up to ``most`` mutants of an accepted kernel. None are made of a kernel without PTX.

    Raises InternalError, also where the kernel itself is not accepted.
    """
    _, artifact = pipeline.build(source, pack, device, settings)
    if artifact is None:
        raise InternalError(f"{name} does not compile")
    texts = ptx_texts(artifact.library)
    cases = [case for case in pack.cases_for(device.kind) if _is_small(pack, case)]
    if not texts or not cases:
        return
    quick = dataclasses.replace(pack, limits=PackLimits(min(_WALL_S, pack.limits.wall_s), pack.limits.memory_mib))
    trials = [_prepare(pack, case, _FIRST_SEED) for case in sorted(cases, key=lambda case: _elements(pack, case))]
    further = further_cases(pack, cases)
    backend = BUILTIN_BACKENDS.of(device.kind)
    with backend.hold(device, settings, cancelled=lambda: False) as threads:
        every = (*cases, *(case for case, _ in further))
        factory = sessions_for(backend, quick, every, device, settings, threads=threads)
        trier = _Trier(factory, pack, artifact)
        try:
            yield from trier.try_all(texts, name, most, trials, further)
        finally:
            trier.close()


class _Trier:
    """Runs mutants in a session, and in another one once that has ended."""

    def __init__(self, factory: SessionFactory, pack: Pack, artifact: Artifact) -> None:
        self._factory = factory
        self._pack = pack
        self._artifact = artifact
        self._names = [argument.name for argument in pack.arguments]
        self._session: Session | None = None
        self._kills: dict[str, int] = {}
        self._loads = 0
        self._loaded = ""

    def try_all(
        self, texts: Sequence[str], name: str, most: int, trials: list[_Trial], further: list[tuple[Case, int]]
    ) -> Iterator[KernelMutant]:
        good = [trial for trial in trials if self._refusal(_UNCHANGED, trial) is None]
        if not good:
            raise InternalError(f"the kernel of {self._pack.slug} is not accepted within {_WALL_S:g} s in any case")
        kept = [text for text in texts if len(text) < MAX_PAYLOAD]
        if len(kept) > 1:
            launched = {kernel for trial in good for kernel in self._launched(trial)}
            kept = [text for text in kept if not launched.isdisjoint(_ENTRY.findall(text))]
        of_each = (ptx_mutants(text, name, most, by_line=name.endswith(".py")) for text in kept)
        together = (mutant for each in zip_longest(*of_each) for mutant in each if mutant is not None)
        more: list[_Trial] = []
        # Every judgement runs a small case with racecheck: what no order here shows is seen there.
        quiet = [trial for trial in good[-2:] if not self._races(_UNCHANGED, trial)]
        for mutant in islice(together, most):
            # What refused many mutants will refuse the next.
            good.sort(key=lambda trial: -self._kills.get(trial.name, 0))
            where = self._first_refusal(mutant, good)
            if where == "":
                yield KernelMutant(mutant.name, mutant.kind, Fate.INVALID)
            elif where is not None:
                yield KernelMutant(mutant.name, mutant.kind, Fate.KILLED, where)
            elif any(self._races(mutant.text, trial) for trial in quiet):
                yield KernelMutant(mutant.name, mutant.kind, Fate.KILLED, "racecheck")
            else:
                if not more:
                    prepared = (_prepare(self._pack, case, seed) for case, seed in further)
                    more = [trial for trial in prepared if self._refusal(_UNCHANGED, trial) is None]
                # Of what took too long nothing is known: the kernel itself, compiled anew, may take as long.
                where = self._first_refusal(mutant, more, but=_TOO_LONG)
                fate = Fate.SURVIVED if where else Fate.EQUIVALENT
                yield KernelMutant(mutant.name, mutant.kind, fate, where or f"{len(more)} further inputs")

    def close(self) -> None:
        """Ends the session; another one starts when it is needed."""
        session, self._session = self._session, None
        if session is not None:
            session.finish()

    def _first_refusal(self, mutant: PtxMutant, trials: Sequence[_Trial], *, but: str | None = None) -> str | None:
        """Returns the first trial that refuses the mutant; empty if it is invalid, None if none refuses it.

        ``but``: a refusal for this reason is none.
        """
        for trial in trials:
            refused = self._refusal(mutant.text, trial)
            if refused == "":
                return ""
            if refused is not None and refused != but:
                self._kills[trial.name] = self._kills.get(trial.name, 0) + 1
                return trial.name
        return None

    def _refusal(self, text: str, trial: _Trial) -> str | None:
        """Returns why some order is not accepted, "" if the PTX is not valid; None if each is accepted."""
        refusals = (self._refusal_in(watch, seed, text, trial) for watch, seed in _ORDERS)
        return next((refused for refused in refusals if refused is not None), None)

    def _refusal_in(self, watch: Watch, seed: int, text: str, trial: _Trial) -> str | None:
        """Returns why a call in one order is not accepted, as ``_refusal`` does."""
        try:
            session = self._session
            if session is None or text != self._loaded:
                session = self._load(text)
            layout = lay_out(self._pack, trial.case, trial.inputs)
            layout.put_inputs(session.runner.inputs, trial.inputs)
            layout.clear_outputs(session.runner.outputs)
            record = session.call(dataclasses.replace(layout.request, watch=watch, schedule_seed=seed))
            outputs = layout.take_outputs(session.runner.outputs)
        except (RunnerEnded, RequestRefused):
            self.close()
            return "its process ended"
        if record.ran.name in _INVALID:
            self.close()
            return ""
        if record.ran.code:
            # What a failed kernel leaves behind in its process must not reach the next one.
            self.close()
            return record.ran.name
        try:
            outcome = outcome_of_call(
                record.ran,
                record.fetched,
                self._names,
                self._factory.bounds.kernel_s(Watch.NOTHING),
                lambda: trial.check(outputs),
                reads_are_errors=self._pack.emulator.reads_are_errors,
            )
        except RunnerKilled as killed:
            return str(killed)
        return None if outcome.verdict is Verdict.ACCEPTED else outcome.message or outcome.verdict.value

    def _races(self, text: str, trial: _Trial) -> bool:
        """Returns whether the emulator's checks find a race, which its order of warps can hide from the outputs."""
        try:
            session = self._session if text == self._loaded and self._session else self._load(text)
            layout = lay_out(self._pack, trial.case, trial.inputs)
            layout.put_inputs(session.runner.inputs, trial.inputs)
            report = session.call(dataclasses.replace(layout.request, watch=Watch.CHECKS)).fetched.report
        except (RunnerEnded, RequestRefused):
            self.close()
            return False
        return report is not None and any("race" in fault.kind for fault in report.faults)

    def _launched(self, trial: _Trial) -> set[str]:
        """Returns the kernels that a trial launches."""
        try:
            session = self._session if self._session and self._loaded == _UNCHANGED else self._load(_UNCHANGED)
            layout = lay_out(self._pack, trial.case, trial.inputs)
            layout.put_inputs(session.runner.inputs, trial.inputs)
            report = session.call(dataclasses.replace(layout.request, watch=Watch.PROFILE)).fetched.report
        except (RunnerEnded, RequestRefused):
            self.close()
            return set()
        return set() if report is None else {profile.kernel for profile in report.profiles}

    def _load(self, text: str) -> Session:
        if self._session is None or self._loads == _MAX_LOADS:
            self.close()
            self._loads = 0
            self._session = self._factory.start()
            self._session.load(self._artifact)
        self._loads += 1
        self._session.mutate([] if text == _UNCHANGED else [text])
        self._loaded = text
        return self._session


def _prepare(pack: Pack, case: Case, seed: int) -> _Trial:
    inputs = make_inputs(pack, case, seed)
    name = case.id if seed == _FIRST_SEED else f"{case.axes}, seed {seed}"
    return _Trial(name, case, inputs, make_checker(pack, case, inputs))


def further_cases(pack: Pack, cases: Sequence[Case]) -> list[tuple[Case, int]]:
    """Returns cases of other sizes within what the pack allows, and seeds for them.

    A ``fixed`` axis keeps its size, since the values of the case may depend on it.
    """
    stream = random.Random(pack.slug)  # noqa: S311 (the same each time)
    found: list[tuple[Case, int]] = []
    for attempt in range(20 * _TRIALS):
        base = stream.choice(cases)
        axes = dict(base.axes)
        for axis in pack.axes:
            if axis.fixed:
                continue
            largest = max(axis.min, min(axis.max, 2 * max(case.axes[axis.name] for case in cases)))
            size = min(stream.randint(axis.min, largest), stream.randint(axis.min, largest))
            axes[axis.name] = max(axis.min, size - size % axis.multiple_of)
        # Every other one has the sizes of a case, and only other contents.
        case = base if attempt % 2 else dataclasses.replace(base, axes=axes)
        if _is_small(pack, case) and all(constraint.holds(case.variables) for constraint in pack.constraints):
            found.append((case, _FIRST_SEED + 1 + attempt))
        if len(found) == _TRIALS:
            break
    return found


def _is_small(pack: Pack, case: Case) -> bool:
    return _elements(pack, case) <= _MAX_ELEMENTS and (sizes.case_flops(pack, case) or 0) <= _MAX_OPERATIONS


def _elements(pack: Pack, case: Case) -> int:
    return sum(sizes.element_count(case, argument) for argument in pack.arguments if argument.is_pointer)
