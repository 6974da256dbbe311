"""Times a null kernel, an empty ``solve`` in a clean process, to tell what a call costs besides its own work.

The null kernel (the pack's starter) is timed in two ways by the submission's own protocol, in a process that has no
reason to lie:

* Alone, before the submission. ``NullBaselines`` keeps the result by what decides it: card, driver, version of the
  judge, and what the calls are made of (``call_form``), whatever the pack is called. Whoever has a device and nothing
  to do on it measures it ahead (``judge.null_baselines``). After an hour, a few null calls made before the submission
  is loaded have to agree with it.
* Beside the submission, a few calls after each burst, on the same processor if one was reserved. How long a reply takes
  depends on what else the machine does at that moment, by more than the bound by the clock (``clock_bound``) allows;
  ``NullKernelProbe`` measures it then and there.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

from judge import __version__
from judge.bench.timing.call_form import call_form
from judge.bench.timing.call_maker import CallMaker, NullCallMaker
from judge.bench.timing.clock_bound import Burst, Line, NullBaseline, NullCalls, fit_baseline, in_words
from judge.bench.timing.schedule import InputKey, PlannedCall
from judge.compile.artifact import Artifact
from judge.errors import InternalError
from judge.gpu.calibration import device_hash
from judge.judgement import DeviceInfo
from judge.packs.pack import Case, Pack
from judge.supervisor.factory import SessionFactory
from judge.supervisor.process import RequestRefused, RunnerEnded
from judge.supervisor.session import BurstRecord, Session
from judge.supervisor.verdict_rules import outcome_of_ending
from judge.wire.bursts import ReserveRequest, TimedCall

#: How long a baseline is kept, and how long it holds without being confirmed, in seconds.
_KEPT_S, FRESH_S = 30 * 24 * 3600.0, 3600.0
#: A baseline is confirmed by so many bursts of null calls, whose medians may differ from it: by so much of the time
#: around a call, and by so many seconds of its overhead (by which calls beside a submission may differ before they do
#: not count) and of its claim.
_CONFIRMING_BURSTS, _AROUND_SHARE, _OVERHEAD_S, _CLAIM_S = 5, 0.15, 5e-6, 0.5e-6
#: What an empty solve takes at most on a GPU that nobody else uses: 2 to 4 µs where the host is quick. Where other
#: programs' kernels took turns with it, it was 0.3 ms.
_MOST_CLAIM_S = 100e-6
#: Incremented when the protocol changes so that older baselines no longer hold.
_VERSION = 13
#: Calls after each burst, and how many of these are discarded: like the first call of a submission's burst, they find
#: the processor's caches cold.
CALLS, _COLD_CALLS = 5, 2
#: Longer than any judgement or audit.
_TOTAL_S = 24 * 3600.0
#: Number of the first null call's inputs; no submission's call has it.
_FIRST_CALL = 1_000_000_000


@dataclass
class NullBaselines:
    """Provides the null kernel's baseline of each case, from ``folder`` if it is recent enough, else measured.

    ``measure`` times the bursts of a case, process by process, while no submission is there. ``now`` returns the time
    of day.
    """

    pack: Pack
    device: DeviceInfo
    folder: Path
    measure: Callable[[Case], Sequence[Sequence[Burst]]]
    now: Callable[[], float] = time.time
    _found: dict[str, NullBaseline] = field(default_factory=dict)
    _unconfirmed: set[str] = field(default_factory=set)

    def of(self, case: Case) -> NullBaseline:
        """Returns the stored baseline, or measures one. Raises what ``measure`` raises."""
        if case.id not in self._found:
            stored = self._load(case)
            self._found[case.id] = stored if stored is not None else self.measure_again(case)
        return self._found[case.id]

    def measure_again(self, case: Case) -> NullBaseline:
        """Measures and stores the baseline, whatever was stored.

        Raises what ``measure`` raises, and InternalError if other programs keep the GPU busy: what is less than such a
        baseline would look like a forged time.
        """
        found = fit_baseline(self.measure(case))
        if found.claim_s > _MOST_CLAIM_S:
            raise InternalError(
                f"other programs use the GPU: an empty solve takes {in_words(found.claim_s)} of it",
                "end them, or judge when they have ended; nvidia-smi lists them",
            )
        self._found[case.id] = found
        self._unconfirmed.discard(case.id)
        self._store(case, found)
        return found

    def age_s(self, case: Case) -> float | None:
        """Returns how long ago the stored baseline was measured or confirmed; None if there is none that holds."""
        stored = self._read(case)
        return None if stored is None else stored[1]

    def confirm(self, case: Case, bursts: Callable[[], Sequence[Burst]]) -> None:
        """Measures the baseline again if it is old and a few null calls, which ``bursts`` makes now, contradict it.

        Raises what ``bursts`` and ``measure`` raise.
        """
        baseline = self.of(case)
        if case.id not in self._unconfirmed:
            return
        if agrees(baseline, bursts()):
            self._unconfirmed.discard(case.id)
            self._store(case, baseline)
        else:
            self.measure_again(case)

    def _path(self, case: Case) -> Path:
        names = (_VERSION, __version__, self.device.details.get("driver", ""), call_form(self.pack, case))
        digest = hashlib.sha256("\0".join(str(name) for name in names).encode()).hexdigest()[:24]
        return self.folder / f"{device_hash(self.device)}-{digest}.json"

    def _load(self, case: Case) -> NullBaseline | None:
        found = self._read(case)
        if found is None:
            return None
        stored, age_s = found
        if age_s >= FRESH_S:
            self._unconfirmed.add(case.id)
        return stored

    def _read(self, case: Case) -> tuple[NullBaseline, float] | None:
        """Returns the stored baseline and its age in seconds; None if there is none that holds."""
        try:
            found = json.loads(self._path(case).read_text())
            line = Line(float(found["once_s"]), float(found["each_s"]), float(found["error_s"]))
            stored = NullBaseline(line, float(found["claim_s"]), float(found["beside_s"]))
            age_s = self.now() - float(found["at"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return (stored, age_s) if 0 <= age_s < _KEPT_S else None

    def _store(self, case: Case, found: NullBaseline) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".line.", dir=self.folder)
        with os.fdopen(handle, "w") as file:
            line = {"once_s": found.line.fixed_s, "each_s": found.line.per_call_s, "error_s": found.line.error_s}
            json.dump({"at": self.now(), "claim_s": found.claim_s, "beside_s": found.overhead_s, **line}, file)
        Path(temporary).replace(self._path(case))


@dataclass(frozen=True, slots=True)
class NullKernelProcesses:
    """Starts processes with the null kernel, which ``build`` builds.

    An error there is not the submission's fault and raises InternalError.
    """

    factory: SessionFactory
    build: Callable[[], Artifact]

    def start(self) -> Session:
        """Returns a session that is still starting and outlives any number of submissions timed beside it."""
        return null_kernel_factory(self.factory).start()

    def load(self, session: Session, reservation: ReserveRequest) -> None:
        """Loads the null kernel once the session is up and has reserved its memory. Raises InternalError."""
        artifact = self.build()
        with as_internal_errors(self.factory):
            session.reserve(reservation)
            session.load(artifact)


def null_kernel_factory(factory: SessionFactory) -> SessionFactory:
    """Returns a factory of sessions that outlive any number of submissions."""
    return dataclasses.replace(factory, bounds=dataclasses.replace(factory.bounds, total_s=_TOTAL_S))


def agrees(baseline: NullBaseline, bursts: Sequence[Burst]) -> bool:
    """Returns whether a few bursts of null calls, all of the same size, are such as the baseline was made of."""
    calls = len(bursts[0].claims_s)
    around_s = statistics.median(burst.wall_s for burst in bursts)
    overhead_s = statistics.median(each for burst in bursts for each in burst.overhead_s[_COLD_CALLS:])
    claim_s = statistics.median(each for burst in bursts for each in burst.claims_s[_COLD_CALLS:])
    expected_s = baseline.line.fixed_s + calls * baseline.line.per_call_s
    return (
        abs(around_s - expected_s) <= _AROUND_SHARE * expected_s
        and abs(overhead_s - baseline.overhead_s) <= _OVERHEAD_S
        and abs(claim_s - baseline.claim_s) <= _CLAIM_S
    )


class NullKernelProbe:
    """Makes null calls between a submission's bursts, in a session of ``NullKernelProcesses``.

    The session is used once ``loading`` is done.
    """

    def __init__(self, session: Session, loading: Future[None], factory: SessionFactory) -> None:
        self._session = session
        self._loading = loading
        self._factory = factory
        self._request: tuple[TimedCall, ...]
        self._prepared: Case | None = None

    def wait_until_loaded(self) -> None:
        """Returns once the null kernel is loaded, with all the device memory it needs. Raises what loading raised."""
        self._loading.result()

    def prepare(self, maker: CallMaker) -> None:
        """Prepares for the calls of one case. Raises what loading raised, and InternalError."""
        self.wait_until_loaded()
        if self._prepared is maker.case:
            # Their inputs lie on the device already.
            return
        offsets = (0,) * len(maker.pack.arguments)
        calls = [PlannedCall(maker.case, InputKey(_FIRST_CALL + k), offsets) for k in range(CALLS)]
        with as_internal_errors(self._factory):
            self._request = NullCallMaker.like(maker).request(self._session, calls)
        self._prepared = maker.case

    def sample(self) -> NullCalls:
        """Makes a few null calls now and returns those made once the process was awake. Raises InternalError."""
        record = self._time()
        return NullCalls(record.claims_s[_COLD_CALLS:], record.overhead_s[_COLD_CALLS:], record.preempted[_COLD_CALLS:])

    def bursts(self, maker: CallMaker) -> list[Burst]:
        """Makes a few bursts of a case's null calls, while no submission is there. Raises InternalError."""
        self.prepare(maker)
        self._time()  # finds caches cold
        records = [self._time() for _ in range(_CONFIRMING_BURSTS)]
        return [Burst(record.wall_s, record.claims_s, record.overhead_s, None) for record in records]

    def _time(self) -> BurstRecord:
        with as_internal_errors(self._factory):
            record = self._session.time(self._request)
        if len(record.calls) < CALLS or any(not claim.finished or claim.ran.code for claim in record.calls):
            raise InternalError(f"an empty solve could not be timed: {record.calls[-1].ran.message}")
        return record


@contextlib.contextmanager
def as_internal_errors(factory: SessionFactory) -> Iterator[None]:
    """Turns the errors of a session with the judge's own library into InternalError."""
    try:
        yield
    except RunnerEnded as ended:
        outcome = outcome_of_ending(ended.ending, factory.bounds.call_s)
        raise InternalError(f"an empty solve could not be timed: {outcome.message}") from None
    except RequestRefused as refused:
        raise InternalError(f"an empty solve could not be timed: {refused}") from None
