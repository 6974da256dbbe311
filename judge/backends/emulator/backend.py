"""The CPU emulator as a backend: PTX, the native library, bounds and modelled times."""

from __future__ import annotations

import functools
import platform
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from emulator import native
from emulator.model import load_gpu
from judge.backends.base import Backend, Cancelled, Discovery, Progress, Say
from judge.compile.target import Target
from judge.errors import InternalError
from judge.judgement import DeviceInfo
from judge.probe import Probe
from judge.processors import emulator_share, emulator_threads
from judge.settings import JudgeSettings
from judge.supervisor.runner_spec import DeviceBounds, RunnerSpec

if TYPE_CHECKING:
    from judge.backends.scoring import Scorer, ScoringJob
    from judge.compile.artifact import Artifact
    from judge.judgement import BuildReport
    from judge.languages.base import Language
    from judge.packs.pack import Case, Pack
    from judge.supervisor.factory import SessionFactory

#: The emulator reads PTX, for the oldest architecture with the instructions of most kernels.
_ARCH = "compute_80"
#: For sources that use Hopper's own instructions, where the modelled GPU is one.
_HOPPER_ARCH, _HOPPER = "compute_90a", "9.0"
#: The most that one call may execute; the wall clock ends nearly everything sooner.
_WARP_INSTRUCTIONS = 20_000_000_000
#: The emulator itself ends a kernel at the time limit, and does not count compiling it: seconds for a large kernel on a
#: busy machine. The supervisor's clock is for host code that never returns.
_GRACE_S = 12.0
#: One judges; the other is ready for a submission that comes before the first is replaced.
_WARM_RUNNERS = 2
#: What a run may spend on its unranked time, in floating-point operations.
_MOST_FLOPS = 1e8


class EmulatorBackend(Backend):
    """The emulator, one device that any number of processes can share, as far as there are processors."""

    kind = "emulator"
    fills_processors = True
    runs_ptx = True
    early_runners = 3

    def discover(self, settings: JudgeSettings) -> Discovery:
        details = {"cpu": _cpu_name(), "threads": emulator_threads(settings)}
        # Programs see the GPU whose times are modelled.
        capability = load_gpu(settings.emulator_gpu).compute_capability
        return Discovery((DeviceInfo("emulator", self.kind, "CPU emulator", capability, details),))

    def probe(self, settings: JudgeSettings) -> Iterable[Probe]:
        try:
            path = native.ensure(settings.data_dir / "emulator")
        except native.NativeBuildError as error:
            return [Probe("emulator", False, str(error), "apt-get install -y g++")]
        return [Probe("emulator", True, str(path))]

    def target(self, device: DeviceInfo) -> Target:
        specific = _HOPPER_ARCH if device.compute_capability == _HOPPER else ""
        return Target(self.kind, _ARCH, specific)

    def prepare(self, settings: JudgeSettings, say: Say = lambda _: None, progress: Progress = lambda _: None) -> None:
        def on_progress(share: float) -> None:
            if not share:
                say("compiling the emulator (once; half a minute to two minutes on two processors)")
            progress(share)

        _build_library(settings.data_dir / "emulator", on_progress)

    def runner_spec(self, device: DeviceInfo, settings: JudgeSettings) -> RunnerSpec:  # noqa: ARG002
        threads = emulator_threads(settings)
        # Beside them the submission's own thread works.
        return RunnerSpec(
            "judge.runner.emulator",
            _ensure_library(settings),
            threads=threads,
            busy_threads=1 + threads,
            has_checks=True,
        )

    def bounds(self, pack: Pack, settings: JudgeSettings, argument_bytes: int) -> DeviceBounds:
        return DeviceBounds(
            # What solve may allocate itself, the arguments, and their red zones.
            memory_bytes=(pack.limits.memory_mib << 20) + argument_bytes + (1 << 20),
            warp_instructions=_WARP_INSTRUCTIONS,
            wall_s=pack.limits.wall_s,
            gpu=settings.emulator_gpu,
            grace_s=_GRACE_S,
        )

    def warm_runners(self, device: DeviceInfo) -> int:  # noqa: ARG002
        return _WARM_RUNNERS

    def hold(
        self,
        device: DeviceInfo,
        settings: JudgeSettings,
        *,
        shared: bool = False,
        cancelled: Cancelled = lambda: False,
    ) -> AbstractContextManager[int]:
        del device, shared
        return emulator_share(settings, cancelled=cancelled)

    def choose_configurations(
        self, language: Language, artifact: Artifact, report: BuildReport, pack: Pack, benchmarks: Sequence[Case],
        seed: int, settings: JudgeSettings, factory: SessionFactory,
    ) -> tuple[Artifact, BuildReport]:  # fmt: skip
        if not language.tuned(artifact):
            return artifact, report
        from judge.backends.emulator.tuning import choose_configurations

        return choose_configurations(language, artifact, report, pack, benchmarks, seed, settings, factory)

    def benchmarks_of_run(self, pack: Pack) -> tuple[Case, ...]:
        """Returns the benchmark that moves the fewest bytes, but where it takes seconds: whole models do."""
        # Here, since it needs NumPy, and the registry is also asked where only names are wanted.
        from judge.packs.sizes import case_bytes, case_flops

        small = [case for case in pack.benchmarks_for(self.kind) if (case_flops(pack, case) or 0.0) <= _MOST_FLOPS]
        return (min(small, key=lambda case: case_bytes(pack, case)),) if small else ()

    def scorer(self, job: ScoringJob) -> Scorer:
        # Here, since a runner starts while what scores it is imported.
        from judge.backends.emulator.scorer import ModelledScorer

        return ModelledScorer(job)


def make_backend() -> Backend:
    """Returns the backend of ``emulator``."""
    return EmulatorBackend()


def _ensure_library(settings: JudgeSettings) -> Path:
    """Returns the native library, built when it is not there. Raises InternalError."""
    folder = settings.data_dir / "emulator"
    if not (library := _built_library(folder)).exists():
        _built_library.cache_clear()
        library = _built_library(folder)
    return library


@functools.lru_cache(maxsize=16)
def _built_library(folder: Path) -> Path:
    """Keeps the path for the life of the process: comparing the sources again takes milliseconds."""
    return _build_library(folder)


def _build_library(folder: Path, progress: Progress = lambda _: None) -> Path:
    try:
        return native.ensure(folder, progress)
    except native.NativeBuildError as error:
        raise InternalError(f"the emulator's native library cannot be built: {error}", error.remedy) from error


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
