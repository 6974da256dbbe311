"""The protocol of a backend: everything that the judge knows of one kind of device."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Protocol

from judge.compile.target import Target
from judge.errors import InternalError
from judge.judgement import DeviceInfo
from judge.probe import Probe
from judge.settings import JudgeSettings
from judge.supervisor.runner_spec import DeviceBounds, RunnerSpec
from records import dataclass

if TYPE_CHECKING:
    from judge.backends.scoring import Ahead, Scorer, ScoringJob
    from judge.bench.library.process import LibraryProcess
    from judge.bench.oracle.oracle import Oracle
    from judge.bench.timing.submission_timer import SubmissionTimer
    from judge.compile.artifact import Artifact
    from judge.gpu.calibration import Calibration
    from judge.gpu.health import GpuHealth
    from judge.judgement import BuildReport
    from judge.languages.base import Language
    from judge.packs.pack import Case, Pack
    from judge.supervisor.factory import SessionFactory
    from judge.supervisor.warm_pool import Beside

Say = Callable[[str], None]
Progress = Callable[[float], None]
Cancelled = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Discovery:
    """The devices of one kind on this machine. ``problem`` says, for the operator, why there are none."""

    devices: tuple[DeviceInfo, ...]
    problem: str = ""


class Calibrator(Protocol):
    """Measures the peaks of devices. No time below what they allow is believed."""

    def load(self, device: DeviceInfo, settings: JudgeSettings) -> Calibration | None:
        """Returns the stored calibration of this device, None where there is none that holds."""

    def calibrate(self, device: DeviceInfo, settings: JudgeSettings, say: Say = ...) -> Calibration:
        """Measures the device, stores the calibration and returns it. Raises InternalError."""


class Backend(Protocol):
    """One kind of device. Stateless: every method gets the device and the settings.

    The methods with a body fit most kinds: there is nothing to hold, prepare, calibrate or watch.
    """

    #: Its name in ``judge.kinds``, in packs and in ``DeviceInfo.kind``.
    kind: str
    #: Whether the device's work takes all processors, so that no runner may start beside it.
    fills_processors: bool = False
    #: How many runners a judgement takes that may start before the device is held; the first runs the cases.
    early_runners: int = 0
    #: Whether times are measured on the device, so that the first places of a board can be timed again together.
    audits: bool = False
    #: Whether ``judge.profiling`` profiles submissions on it.
    is_profiled: bool = False
    #: Whether its runners load PTX as it stands, so that mutants of a kernel need no compiler.
    runs_ptx: bool = False
    #: None where there are no peaks to measure.
    calibrator: Calibrator | None = None

    @abstractmethod
    def discover(self, settings: JudgeSettings) -> Discovery:
        """Finds the devices of this kind on this machine."""

    def selector(self, device: DeviceInfo) -> str:
        """Returns the name by which commands of this machine address the device."""
        return device.key

    def answers_to(self, device: DeviceInfo, name: str) -> bool:
        """Returns whether a user who types ``name`` means this device."""
        return name in (device.key, self.selector(device))

    @abstractmethod
    def target(self, device: DeviceInfo) -> Target:
        """Returns the target that submissions for the device are compiled for."""

    def probe(self, settings: JudgeSettings) -> Iterable[Probe]:
        """Tries the parts that the kind needs on this machine, for ``gpujudge doctor``."""
        del settings
        return ()

    def prepare(self, settings: JudgeSettings, say: Say = lambda _: None, progress: Progress = lambda _: None) -> None:
        """Builds the parts that the kind needs before its first submission. Raises InternalError.

        ``say`` gets a message before work that takes long, and ``progress`` what share of it is done.
        """
        del settings, say, progress

    @abstractmethod
    def runner_spec(self, device: DeviceInfo, settings: JudgeSettings) -> RunnerSpec:
        """Returns how the device's runners are started; builds their library first. Raises InternalError."""

    @abstractmethod
    def bounds(self, pack: Pack, settings: JudgeSettings, argument_bytes: int) -> DeviceBounds:
        """Returns the bounds on one call; ``argument_bytes`` is the size of the largest case's arguments."""

    @abstractmethod
    def warm_runners(self, device: DeviceInfo) -> int:
        """Returns how many runners a worker keeps ready on the device."""

    def beside_runners(self, device: DeviceInfo, settings: JudgeSettings) -> Beside | None:
        """Returns the keeper of another process that a worker has ready on the device; None where there is none."""
        del device, settings
        return None

    def hold(
        self,
        device: DeviceInfo,
        settings: JudgeSettings,
        *,
        shared: bool = False,
        cancelled: Cancelled = lambda: False,
    ) -> AbstractContextManager[int | None]:
        """Holds the device's exclusive parts for a judgement while it lasts. Raises Cancelled while it waits.

        ``shared`` judgements, which time nothing, may hold a device side by side.

        Yields on how many threads the device may work; None where that is its own affair.
        """
        del device, settings, shared, cancelled
        return nullcontext()

    def choose_configurations(
        self, language: Language, artifact: Artifact, report: BuildReport, pack: Pack, benchmarks: Sequence[Case],
        seed: int, settings: JudgeSettings, factory: SessionFactory,
    ) -> tuple[Artifact, BuildReport]:  # fmt: skip
        """Returns the artifact with the configurations that its autotuned kernels take, and the report with notes.

        Raises InternalError and Cancelled.
        """
        del language, pack, benchmarks, seed, settings, factory
        return artifact, report

    def begin_ahead(
        self, pack: Pack, cases: Sequence[Case], device: DeviceInfo, settings: JudgeSettings, factory: SessionFactory
    ) -> Ahead | None:
        """Prepares the scoring of these benchmarks in the background, before there is anything to score.

        Call it in a thread that outlives the judgement, with the device held. Raises InternalError and RunnerEnded.
        """
        del pack, cases, device, settings, factory
        return None

    def benchmarks_of_run(self, pack: Pack) -> tuple[Case, ...]:
        """Returns the benchmarks whose unranked time a run shows; none where a time takes longer than a run may."""
        del pack
        return ()

    @abstractmethod
    def scorer(self, job: ScoringJob) -> Scorer:
        """Returns the scorer of one submission."""

    def open_timer(
        self,
        pack: Pack,
        cases: Sequence[Case],
        device: DeviceInfo,
        settings: JudgeSettings,
        factory: SessionFactory,
        seed: int,
        build_null_kernel: Callable[[], Artifact],
        ahead: Ahead | None = None,
    ) -> AbstractContextManager[SubmissionTimer]:
        """Opens the timer that times submissions together. Raises InternalError unless the kind audits.

        ``build_null_kernel`` builds a ``solve`` that does nothing; ``ahead`` is what ``begin_ahead`` returned.
        """
        del cases, settings, factory, seed, build_null_kernel, ahead
        raise InternalError(f"{pack.slug} is not timed on {device.key}")

    def open_oracle(
        self, pack: Pack, device: DeviceInfo, settings: JudgeSettings
    ) -> AbstractContextManager[Oracle | None]:
        """Opens what checks timed calls on the device itself; None where nothing does. Raises InternalError.

        It takes its time for an answer: nobody is timed meanwhile.
        """
        del pack, device, settings
        return nullcontext()

    def lacking_baselines(
        self, pack: Pack, device: DeviceInfo, settings: JudgeSettings, *, older_s: float | None = None
    ) -> tuple[Case, ...]:
        """Returns the benchmarks whose null kernel was not timed yet, or not confirmed for ``older_s`` seconds."""
        del pack, device, settings, older_s
        return ()

    def time_null_kernel(
        self,
        pack: Pack,
        cases: Sequence[Case],
        device: DeviceInfo,
        settings: JudgeSettings,
        factory: SessionFactory,
        build_null_kernel: Callable[[], Artifact],
    ) -> None:
        """Measures and keeps the baselines of these benchmarks, on a device that is held. Raises InternalError."""
        del pack, cases, device, settings, factory, build_null_kernel

    def open_libraries(
        self, pack: Pack, device: DeviceInfo, settings: JudgeSettings
    ) -> AbstractContextManager[LibraryProcess] | None:
        """Returns a timer of the pack's baselines on a device that is held; None where the kind has no libraries.

        Entering it raises InternalError where they cannot be called.
        """
        del pack, device, settings
        return None

    def open_health(self, device: DeviceInfo, settings: JudgeSettings, *, runners: int) -> GpuHealth | None:
        """Returns the health of a device that can become unfit, None for any other.

        ``runners`` is how many may wait on the device. Call this before the first of them starts.
        """
        del device, settings, runners
        return None
