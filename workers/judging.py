"""What a worker asks of the engine, as a protocol, and the engine behind it.

Workers take a ``Judge`` as a parameter, so that their own duties (leases, retries, cancellation) can be tested with one
that is slow, fails or lies at will.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import structlog

from judge.bench.background import Background
from judge.errors import InternalError
from judge.judgement import BuildReport, DeviceInfo, Judgement
from judge.settings import JudgeSettings

if TYPE_CHECKING:
    from judge.packs.pack import Pack
    from judge.pipeline import Progress
    from judge.supervisor.warm import WarmRunners

log = structlog.get_logger(__name__)


class Built(Protocol):
    """What a build made, as the store keeps it."""

    @property
    def digest(self) -> str: ...
    def to_bytes(self) -> bytes: ...


class Judge(Protocol):
    """The two halves of judging. Both raise ``judge.errors.InternalError`` for what is not the submission's fault."""

    def build(self, source: bytes, pack: Pack, device: DeviceInfo) -> tuple[BuildReport, Built | None]:
        """The report, and the artifact unless the source does not compile."""

    def compile_error(self, report: BuildReport, pack: Pack, device: DeviceInfo) -> Judgement:
        """The judgement of a source that does not compile."""

    def run(
        self,
        artifact: bytes,
        report: BuildReport,
        pack: Pack,
        device: DeviceInfo,
        *,
        seed: int,
        mode: str,
        progress: Callable[[Progress], None],
        cancelled: Callable[[], bool],
    ) -> Judgement:
        """The judgement of an artifact. Raises ``judge.errors.Cancelled`` when ``cancelled`` came to say so."""

    def audit(
        self,
        built: Sequence[tuple[bytes, BuildReport]],
        pack: Pack,
        device: DeviceInfo,
        *,
        sources: Sequence[bytes],
        seed: int,
        cancelled: Callable[[], bool],
    ) -> list[Judgement]:
        """Artifacts timed together, in alternation: a judgement of each, in their order, as are the ``sources`` that
        they were built from. Raises as ``run`` does."""


class PipelineJudge:
    """The engine. Imported when first used: the workers' other parts need neither NumPy nor the emulator."""

    def __init__(self, settings: JudgeSettings) -> None:
        self._settings = settings
        self._warm: WarmRunners | None = None
        self._background = Background()

    def warm_up(self, device: DeviceInfo | None, *, runners: int = 0) -> None:
        """Do now what the first job would otherwise wait for. ``device`` None: builds only; ``runners``: how many wait
        for submissions from now on, until ``close``. Raises InternalError.
        """
        from emulator import native
        from judge import pipeline

        if device is not None and device.kind == "emulator":
            try:
                native.ensure(self._settings.data_dir / "emulator")
            except native.NativeBuildError as error:
                raise InternalError(str(error)) from error
        if device is not None and runners:
            self._warm = pipeline.warm_runners(
                device, self._settings, runners, lambda problem: log.warning("runner.not_started", problem=problem)
            )

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Until the block ends no runner waits, and none is started."""
        if self._warm is None:
            yield
            return
        with self._warm.quiet():
            self._warm.clear()
            yield

    def settle(self) -> None:
        """Waits until nothing is left of the last judgement: a verdict comes before the last processes are gone."""
        for error in self._background.wait():
            log.error("judgement.not_ended", error=f"{type(error).__name__}: {error}")

    def close(self) -> None:
        """Ends the runners. Idempotent."""
        self._background.close()
        if self._warm is not None:
            self._warm.close()

    def build(self, source: bytes, pack: Pack, device: DeviceInfo) -> tuple[BuildReport, Built | None]:
        from judge import pipeline

        return pipeline.build(source, pack, device, self._settings)

    def compile_error(self, report: BuildReport, pack: Pack, device: DeviceInfo) -> Judgement:
        from judge import pipeline

        return pipeline.compile_error(report, pack, device)

    def run(
        self,
        artifact: bytes,
        report: BuildReport,
        pack: Pack,
        device: DeviceInfo,
        *,
        seed: int,
        mode: str,
        progress: Callable[[Progress], None],
        cancelled: Callable[[], bool],
    ) -> Judgement:
        from judge import pipeline
        from judge.build.artifact import Artifact

        self.settle()
        return pipeline.run(
            Artifact.from_bytes(artifact),
            report,
            pack,
            device,
            seed,
            self._settings,
            mode=pipeline.Mode(mode),
            progress=progress,
            cancelled=cancelled,
            warm=self._warm,
            background=self._background,
        )

    def audit(
        self,
        built: Sequence[tuple[bytes, BuildReport]],
        pack: Pack,
        device: DeviceInfo,
        *,
        sources: Sequence[bytes],
        seed: int,
        cancelled: Callable[[], bool],
    ) -> list[Judgement]:
        from judge.audit import audit
        from judge.build.artifact import Artifact

        self.settle()
        opened = [(Artifact.from_bytes(artifact), report) for artifact, report in built]
        return audit(
            opened, pack, device, seed, self._settings, sources=sources, cancelled=cancelled, warm=self._warm
        )  # fmt: skip


def find_device(selector: str, settings: JudgeSettings) -> DeviceInfo:
    """The device of this machine that a worker shall serve: ``emulator``, ``cuda:0``. Raises UnknownDevice."""
    from judge.devices import catalog

    return catalog.find_device(selector, settings)
