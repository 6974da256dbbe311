"""NVIDIA GPUs as a backend: machine code, the device lock, health, peaks and measured times."""

from __future__ import annotations

import contextlib
import functools
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from judge.backends.base import Backend, Calibrator, Cancelled, Discovery, Progress, Say
from judge.backends.cuda.probe import probe_gpus
from judge.backends.cuda.scorer import MeasuredScorer
from judge.backends.scoring import Ahead, Scorer, ScoringJob
from judge.bench.library.process import LibraryProcess
from judge.bench.oracle.oracle import Oracle
from judge.bench.oracle.process import SpareProcess
from judge.bench.timing.ahead import TimingAhead, has_oracle, spare_oracle, start_oracle
from judge.bench.timing.submission_timer import SubmissionTimer, kept_baselines, open_timer
from judge.compile.architecture import gpu_architecture
from judge.compile.artifact import Artifact
from judge.compile.target import Target
from judge.gpu import calibrate, calibration, discovery, nvml, trial
from judge.gpu.calibration import Calibration
from judge.gpu.health import GpuHealth
from judge.gpu.kernels.build import ensure_kernels
from judge.gpu.lock import device_lock
from judge.judgement import DeviceInfo
from judge.native import build as native
from judge.packs.pack import Case, Pack
from judge.packs.sizes import case_bytes
from judge.probe import Probe
from judge.settings import JudgeSettings
from judge.supervisor.factory import SessionFactory
from judge.supervisor.runner_spec import DeviceBounds, RunnerSpec

#: A judgement takes one for its cases, three for its times and one for the null kernel beside them.
_WARM_RUNNERS = 5
#: A runner takes a context and the buffer that flushes the caches: a small GPU needs its memory for submissions.
_MEMORY_PER_RUNNER_BYTES = 8 << 30
#: For an answer of the oracle that nobody waits for: CuPy compiles dozens of kernels for a first one.
_UNHURRIED_S = 200.0
_ALIAS = re.compile(r"cuda(?::(\d+))?")


class _Peaks(Calibrator):
    """Measures a GPU's peaks with the judge's own kernels."""

    def load(self, device: DeviceInfo, settings: JudgeSettings) -> Calibration | None:
        return calibration.load_calibration(settings, device)

    def calibrate(self, device: DeviceInfo, settings: JudgeSettings, say: Say = lambda _: None) -> Calibration:
        return calibrate.calibrate(device, settings, say)


class CudaBackend(Backend):
    """NVIDIA GPUs, each of which judges one submission at a time."""

    kind = "cuda"
    audits = True
    is_profiled = True
    calibrator = _Peaks()

    def discover(self, settings: JudgeSettings) -> Discovery:
        found = discovery.find_gpus(settings)
        return Discovery(found.devices, found.problem)

    def selector(self, device: DeviceInfo) -> str:
        return f"cuda:{device.details.get('ordinal', 0)}"

    def answers_to(self, device: DeviceInfo, name: str) -> bool:
        alias = _ALIAS.fullmatch(name)
        return name == device.key or (alias is not None and device.details["ordinal"] == int(alias.group(1) or 0))

    def probe(self, settings: JudgeSettings) -> Iterable[Probe]:
        return probe_gpus(settings)

    def prepare(
        self,
        settings: JudgeSettings,
        say: Say = lambda _: None,
        progress: Progress = lambda _: None,  # noqa: ARG002
    ) -> None:
        native.prepare(settings.data_dir, say)

    def target(self, device: DeviceInfo) -> Target:
        return Target(self.kind, gpu_architecture(device.compute_capability))

    def runner_spec(self, device: DeviceInfo, settings: JudgeSettings) -> RunnerSpec:
        ordinal = int(device.details.get("ordinal", 0))
        return RunnerSpec(
            "judge.runner.cuda.device",
            _ensure_kernels(device, settings),
            # A jail shows one GPU, whatever its number is outside.
            ordinal=ordinal if settings.jail == "off" else 0,
            gpu_minors=(int(device.details.get("minor", ordinal)),),
            # The submission's own thread, and the driver's for host functions.
            busy_threads=2,
            reserves=True,
            pytorch="" if settings.pytorch == "off" else settings.pytorch,
        )

    def bounds(self, pack: Pack, settings: JudgeSettings, argument_bytes: int) -> DeviceBounds:  # noqa: ARG002
        return DeviceBounds()

    def warm_runners(self, device: DeviceInfo) -> int:
        return min(_WARM_RUNNERS, int(device.details.get("memory_bytes", 0)) // _MEMORY_PER_RUNNER_BYTES)

    def beside_runners(self, device: DeviceInfo, settings: JudgeSettings) -> SpareProcess | None:
        return spare_oracle(device, settings) if has_oracle(device) else None

    def hold(
        self,
        device: DeviceInfo,
        settings: JudgeSettings,
        *,
        shared: bool = False,
        cancelled: Cancelled = lambda: False,
    ) -> AbstractContextManager[int | None]:
        return device_lock(device, settings, shared=shared, cancelled=cancelled)

    def benchmarks_of_run(self, pack: Pack) -> tuple[Case, ...]:
        """Returns the benchmark that moves the fewest bytes.

        An input of typed values does not count: each timed call gets inputs of its own.
        """
        there = [case for case in pack.benchmarks_for(self.kind) if not case.typed]
        return (min(there, key=lambda case: case_bytes(pack, case)),) if there else ()

    def scorer(self, job: ScoringJob) -> Scorer:
        begin = functools.partial(self.begin_ahead, job.pack, job.benchmarks, job.device, job.settings, job.factory)
        timer = functools.partial(
            self.open_timer,
            job.pack,
            job.benchmarks,
            job.device,
            job.settings,
            job.factory,
            job.seed,
            job.build_null_kernel,
        )
        return MeasuredScorer(job, begin, timer)

    @contextlib.contextmanager
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
    ) -> Iterator[SubmissionTimer]:
        begun = ahead if isinstance(ahead, TimingAhead) else self.begin_ahead(pack, cases, device, settings, factory)
        with (
            contextlib.closing(begun),
            open_timer(
                pack, cases, device, settings, factory, seed, build_null_kernel=build_null_kernel, ahead=begun
            ) as timer,
        ):
            yield timer

    def lacking_baselines(
        self, pack: Pack, device: DeviceInfo, settings: JudgeSettings, *, older_s: float | None = None
    ) -> tuple[Case, ...]:
        kept = kept_baselines(pack, device, settings)
        ages = ((case, kept.age_s(case)) for case in pack.benchmarks_for(self.kind))
        return tuple(case for case, age_s in ages if age_s is None or (older_s is not None and age_s >= older_s))

    def time_null_kernel(
        self,
        pack: Pack,
        cases: Sequence[Case],
        device: DeviceInfo,
        settings: JudgeSettings,
        factory: SessionFactory,
        build_null_kernel: Callable[[], Artifact],
    ) -> None:
        opened = open_timer(pack, cases, device, settings, factory, 0, build_null_kernel=build_null_kernel)
        with opened as timer:
            for case in cases:
                timer.baselines.measure_again(case)

    def begin_ahead(
        self, pack: Pack, cases: Sequence[Case], device: DeviceInfo, settings: JudgeSettings, factory: SessionFactory
    ) -> TimingAhead:
        oracle = start_oracle(pack, device, settings, functools.partial(_ensure_kernels, device, settings))
        return TimingAhead(pack, cases, device, factory, oracle)

    @contextlib.contextmanager
    def open_oracle(self, pack: Pack, device: DeviceInfo, settings: JudgeSettings) -> Iterator[Oracle | None]:
        kernels = functools.partial(_ensure_kernels, device, settings)
        with self.hold(device, settings):
            oracle = start_oracle(pack, device, settings, kernels, answer_s=_UNHURRIED_S)
            with contextlib.nullcontext() if oracle is None else contextlib.closing(oracle):
                yield oracle

    def open_libraries(
        self, pack: Pack, device: DeviceInfo, settings: JudgeSettings
    ) -> AbstractContextManager[LibraryProcess] | None:
        if not pack.baselines.calls:
            return None
        kernels, folder = _ensure_kernels(device, settings), settings.data_dir / "baselines"
        return LibraryProcess(pack, device, kernels, folder, secrets.randbits(31))

    def open_health(self, device: DeviceInfo, settings: JudgeSettings, *, runners: int) -> GpuHealth:
        """Returns the GPU's health by NVML, where there is one, and by trials in processes of their own."""
        watch = nvml.watch_device(device)
        waiting = runners + 1 if runners and has_oracle(device) else runners
        return GpuHealth(device, settings, watch, lambda: trial.why_not_working(device, settings), waiting=waiting)


def make_backend() -> Backend:
    """Returns the backend of ``cuda``."""
    return CudaBackend()


def _ensure_kernels(device: DeviceInfo, settings: JudgeSettings) -> Path:
    """Returns the path of the judge's own kernels for the GPU, compiled if need be. Raises InternalError."""
    wanted = device.compute_capability, settings.data_dir / "kernels", settings.nvcc
    if not (cubin := _built_kernels(*wanted)).exists():
        _built_kernels.cache_clear()
        cubin = _built_kernels(*wanted)
    return cubin


@functools.lru_cache(maxsize=16)
def _built_kernels(compute_capability: str, folder: Path, nvcc: Path | None) -> Path:
    """Keeps the path for the life of the process: comparing the sources again takes milliseconds."""
    return ensure_kernels(compute_capability, folder, nvcc)
