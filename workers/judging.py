"""Defines the part of the engine that workers need as a protocol, and implements it with the judging pipeline.

Workers take a ``Judge`` as a parameter, so that leases, retries and cancellation can be tested with one that is slow or
fails on purpose.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import structlog

from judge.backends.registry import BUILTIN_BACKENDS, Backends
from judge.bench.background import Background
from judge.errors import InternalError
from judge.judgement import BuildReport, DeviceInfo, Judgement
from judge.kinds import KINDS
from judge.languages.registry import BUILTIN_LANGUAGES, Languages
from judge.settings import JudgeSettings

if TYPE_CHECKING:
    from judge.bench.library.record import LibraryTime
    from judge.compile.assembly import Assembly, NotAssembled
    from judge.packs.pack import Pack
    from judge.pipeline import Progress
    from judge.profiling import Profiled
    from judge.recheck import Recheck
    from judge.supervisor.warm_pool import WarmPool

log = structlog.get_logger(__name__)


class Built(Protocol):
    """An artifact, as the store needs it."""

    @property
    def digest(self) -> str: ...
    def to_bytes(self) -> bytes: ...


class Judge(Protocol):
    """Builds, judges and audits. All methods raise ``judge.errors.InternalError`` for faults of the judge."""

    def build(self, source: bytes, pack: Pack, device: DeviceInfo) -> tuple[BuildReport, Built | None]:
        """Compiles a source. Returns the report, and the artifact or None if it does not compile."""

    def compile_error(self, report: BuildReport, pack: Pack, device: DeviceInfo) -> Judgement:
        """Returns the judgement of a source that does not compile."""

    def with_custom_case(self, pack: Pack, given: dict[str, str], device: DeviceInfo) -> Pack:
        """Returns the pack with the case that a user described alone. Raises InternalError if it is none any more."""

    def run(
        self,
        artifact: bytes,
        report: BuildReport,
        pack: Pack,
        device: DeviceInfo,
        *,
        source: bytes,
        seed: int,
        mode: str,
        progress: Callable[[Progress], None],
        cancelled: Callable[[], bool],
        far_s: float,
    ) -> Judgement:
        """Returns the judgement of an artifact. A measured time above ``far_s`` seconds need not be precise.

        Raises ``judge.errors.Cancelled`` once ``cancelled`` returns True.
        """

    def audit(
        self,
        built: Sequence[tuple[bytes, BuildReport]],
        pack: Pack,
        device: DeviceInfo,
        *,
        sources: Sequence[tuple[bytes, str]],
        seed: int,
        cancelled: Callable[[], bool],
        on_libraries: Callable[[Sequence[LibraryTime]], None],
    ) -> list[Judgement]:
        """Times artifacts together, in alternation. Returns their judgements in the order of ``built``.

        ``sources`` are the sources of the artifacts, with their languages, in the same order. ``on_libraries`` gets the
        times of libraries that took turns with them. Raises as ``run`` does.
        """

    def library_times(self, pack: Pack, device: DeviceInfo, *, cancelled: Callable[[], bool]) -> Sequence[LibraryTime]:
        """Returns the time or the problem of each baseline (``judge.libraries``). Raises as ``run`` does."""

    def lacks_null_kernel(self, pack: Pack, device: DeviceInfo, *, older_s: float | None) -> bool:
        """Returns whether an empty call of a challenge was not timed yet, or not confirmed for ``older_s`` seconds."""

    def time_null_kernel(
        self, pack: Pack, device: DeviceInfo, *, older_s: float | None, cancelled: Callable[[], bool]
    ) -> None:
        """Times and keeps what is lacking (``judge.null_baselines``). Raises as ``run`` does."""

    def profile(
        self, source: bytes, pack: Pack, device: DeviceInfo, *, seed: int, cancelled: Callable[[], bool]
    ) -> Profiled:
        """Returns the profile of an accepted source (``judge.profiling``). Raises like ``run``, and NoProfile."""

    def can_recheck(self) -> bool:
        """Returns whether this machine can check what devices of other kinds accepted."""

    def recheck(self, source: bytes, pack: Pack, kind: str, *, seed: int, cancelled: Callable[[], bool]) -> Recheck:
        """Returns the findings of ``kind`` in an accepted source (``judge.rechecking``). Raises like ``run``."""

    def assemble(self, source: bytes, pack: Pack, arch: str) -> Assembly | NotAssembled:
        """Returns the machine code of a source for a GPU architecture (``sm_80``)."""


class PipelineJudge:
    """Judges with the pipeline, which it imports on first use: other parts of workers do without NumPy."""

    def __init__(
        self, settings: JudgeSettings, backends: Backends = BUILTIN_BACKENDS, languages: Languages = BUILTIN_LANGUAGES
    ) -> None:
        self._settings = settings
        self._backends = backends
        self._languages = languages
        self._warm: WarmPool | None = None
        self._background = Background()
        #: None until somebody asks.
        self._can_recheck: bool | None = None

    def warm_up(self, device: DeviceInfo | None, *, runners: int = 0) -> None:
        """Prepares the device and starts ``runners`` runners, so that the first job need not wait for them.

        Does nothing for ``device`` None (a build worker). The runners wait until ``close``. Raises InternalError.
        """
        from judge.backends.sessions import warm_runners

        if device is None:
            return
        backend = self._backends.of(device.kind)
        backend.prepare(self._settings)
        if runners:
            self._warm = warm_runners(
                backend,
                device,
                self._settings,
                runners,
                lambda problem: log.warning("runner.not_started", problem=problem),
            )

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Ends the waiting runners and starts none until the block ends."""
        if self._warm is None:
            yield
            return
        with self._warm.quiet():
            self._warm.clear()
            yield

    def settle(self) -> None:
        """Waits for the previous judgement's processes, which may outlive its verdict, to exit."""
        for error in self._background.wait():
            log.error("judgement.not_ended", error=f"{type(error).__name__}: {error}")

    def close(self) -> None:
        """Ends the waiting runners. Idempotent."""
        self._background.close()
        if self._warm is not None:
            self._warm.close()

    def build(self, source: bytes, pack: Pack, device: DeviceInfo) -> tuple[BuildReport, Built | None]:
        from judge import pipeline

        return pipeline.build(source, pack, device, self._settings, backends=self._backends, languages=self._languages)

    def compile_error(self, report: BuildReport, pack: Pack, device: DeviceInfo) -> Judgement:
        from judge import pipeline

        return pipeline.compile_error(report, pack, device, languages=self._languages)

    def can_recheck(self) -> bool:
        if self._can_recheck is None:
            kinds = sorted({kind.rechecked_on for kind in KINDS.values() if kind.rechecked_on is not None})
            try:
                for kind in kinds:
                    self._backends.of(kind).prepare(self._settings)
                self._can_recheck = True
            except InternalError as error:
                log.warning("recheck.impossible", reason=error.message)
                self._can_recheck = False
        return self._can_recheck

    def profile(
        self, source: bytes, pack: Pack, device: DeviceInfo, *, seed: int, cancelled: Callable[[], bool]
    ) -> Profiled:
        from judge.profiling import profile

        self.settle()
        with contextlib.nullcontext() if self._warm is None else self._warm.quiet():
            return profile(
                source,
                pack,
                device,
                seed,
                self._settings,
                cancelled=cancelled,
                backends=self._backends,
                languages=self._languages,
            )

    def recheck(self, source: bytes, pack: Pack, kind: str, *, seed: int, cancelled: Callable[[], bool]) -> Recheck:
        from judge.rechecking import recheck

        self.settle()
        return recheck(
            source,
            pack,
            kind,
            seed,
            self._settings,
            cancelled=cancelled,
            backends=self._backends,
            languages=self._languages,
        )

    def assemble(self, source: bytes, pack: Pack, arch: str) -> Assembly | NotAssembled:
        return self._languages.of(pack.build.language).assemble(source, pack, arch, self._settings)

    def with_custom_case(self, pack: Pack, given: dict[str, str], device: DeviceInfo) -> Pack:
        from judge.packs.custom.case import CustomInputError, with_custom_case

        try:
            return with_custom_case(pack, given, device.kind)
        except CustomInputError as error:  # the pack has changed since the input was accepted
            raise InternalError(f"the input does not fit the challenge any more: {error}") from None

    def run(
        self,
        artifact: bytes,
        report: BuildReport,
        pack: Pack,
        device: DeviceInfo,
        *,
        source: bytes,
        seed: int,
        mode: str,
        progress: Callable[[Progress], None],
        cancelled: Callable[[], bool],
        far_s: float,
    ) -> Judgement:
        from judge import pipeline
        from judge.compile.artifact import Artifact

        self.settle()
        return pipeline.run(
            Artifact.from_bytes(artifact),
            report,
            pack,
            device,
            seed,
            self._settings,
            source=source,
            mode=pipeline.Mode(mode),
            progress=progress,
            cancelled=cancelled,
            warm=self._warm,
            background=self._background,
            far_s=far_s,
            backends=self._backends,
            languages=self._languages,
        )

    def audit(
        self,
        built: Sequence[tuple[bytes, BuildReport]],
        pack: Pack,
        device: DeviceInfo,
        *,
        sources: Sequence[tuple[bytes, str]],
        seed: int,
        cancelled: Callable[[], bool],
        on_libraries: Callable[[Sequence[LibraryTime]], None],
    ) -> list[Judgement]:
        from judge.audit import audit
        from judge.compile.artifact import Artifact

        self.settle()
        opened = [(Artifact.from_bytes(artifact), report) for artifact, report in built]
        return audit(
            opened,
            pack,
            device,
            seed,
            self._settings,
            sources=sources,
            cancelled=cancelled,
            warm=self._warm,
            backends=self._backends,
            languages=self._languages,
            on_libraries=on_libraries,
        )

    def library_times(self, pack: Pack, device: DeviceInfo, *, cancelled: Callable[[], bool]) -> Sequence[LibraryTime]:
        from judge.libraries import library_times

        self.settle()
        with contextlib.nullcontext() if self._warm is None else self._warm.quiet():
            return library_times(pack, device, self._settings, cancelled=cancelled, backends=self._backends)

    def lacks_null_kernel(self, pack: Pack, device: DeviceInfo, *, older_s: float | None) -> bool:
        return bool(self._backends.of(device.kind).lacking_baselines(pack, device, self._settings, older_s=older_s))

    def time_null_kernel(
        self, pack: Pack, device: DeviceInfo, *, older_s: float | None, cancelled: Callable[[], bool]
    ) -> None:
        from judge.null_baselines import time_null_kernel

        self.settle()
        time_null_kernel(
            pack,
            device,
            self._settings,
            older_s=older_s,
            cancelled=cancelled,
            warm=self._warm,
            backends=self._backends,
            languages=self._languages,
        )
