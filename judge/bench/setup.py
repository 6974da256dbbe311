"""What timing on a GPU needs, put together for one pack on one device."""

from __future__ import annotations

import contextlib
import functools
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from judge.bench.background import Background
from judge.bench.conditions import Conditions
from judge.bench.empty_solve import EmptySolve
from judge.bench.fingerprint import fingerprint
from judge.bench.measurement import TimedCase, measured_time
from judge.bench.processors import processor_for_timing
from judge.bench.roofline import Roofline
from judge.bench.stream import SecretStream
from judge.bench.trial import Bench, CaseResult, Heard, run_trials
from judge.bench.twin import EmptyProcesses
from judge.build.nvcc import build_submission
from judge.build.target import Target
from judge.devices.calibration import load_calibration
from judge.devices.nvml import GpuWatch, watch_device
from judge.errors import InternalError
from judge.judgement import DeviceInfo, Measurement
from judge.native.build import prepare
from judge.packs.pack import Case, Pack
from judge.settings import JudgeSettings
from judge.supervisor.factory import SessionFactory

Watcher = Callable[[DeviceInfo], GpuWatch | None]


@dataclass(frozen=True, slots=True)
class TimingRoom:
    """Times libraries of one pack on one device, which nobody else uses meanwhile."""

    bench: Bench
    empty: EmptySolve
    settings: JudgeSettings

    def time(
        self, libraries: Sequence[bytes], heard: Heard = lambda _case, _calls: None
    ) -> list[tuple[list[CaseResult], Measurement | None]]:
        """What came of each, taking turns: the results up to the first that is not accepted, and the score where all
        are. Raises InternalError and Cancelled."""
        found = run_trials(self.bench, self.empty, libraries, heard)
        return [(results, self._measurement(results)) for results in found]

    def _measurement(self, results: Sequence[CaseResult]) -> Measurement | None:
        timed: list[TimedCase] = [result.timed for result in results if result.timed is not None]
        if len(timed) < len(self.bench.cases):
            return None
        return measured_time(self.bench.pack, timed, fingerprint=self._fingerprint())

    def _fingerprint(self) -> dict[str, Any]:
        roofline, seen = self.bench.roofline, self.bench.conditions.summary()
        return fingerprint(self.bench.pack, roofline.device, self.settings, roofline.calibration, seen)


@contextlib.contextmanager
def timing_room(
    pack: Pack, cases: Sequence[Case], device: DeviceInfo, settings: JudgeSettings, factory: SessionFactory, seed: int,
    *, build_empty: Callable[[], bytes] | None = None, open_watch: Watcher = watch_device,
) -> Iterator[TimingRoom]:  # fmt: skip
    """``build_empty`` makes the library of a ``solve`` that does nothing: the pack's starter, unless given. In the end
    no process is left."""
    # What is looked at afterwards is gigabytes.
    prepare(settings.data_dir / "native")
    with contextlib.ExitStack() as stack:
        watch = open_watch(device)
        if watch is not None:
            stack.callback(watch.close)
        factory = factory.at(stack.enter_context(processor_for_timing(settings.data_dir / "locks")))
        background = Background()
        stack.callback(background.close)
        bench = Bench(
            pack=pack,
            cases=tuple(cases),
            factory=factory,
            empty=EmptyProcesses(factory, functools.cache(build_empty or (lambda: _starter(pack, device, settings)))),
            roofline=Roofline(pack, device, load_calibration(settings, device)),
            conditions=Conditions(watch),
            background=background,
            stream=SecretStream(secrets.token_bytes(32)),
            seed=seed,
        )
        empty = EmptySolve(pack, device, settings.data_dir / "empty-solve", bench.time_empty)
        yield TimingRoom(bench, empty, settings)


def _starter(pack: Pack, device: DeviceInfo, settings: JudgeSettings) -> bytes:
    target = Target.cuda(device.compute_capability)
    report, artifact = build_submission(pack.starter().encode(), pack, target, settings)
    if artifact is None:
        raise InternalError(f"the starter of {pack.slug} does not compile: {report.log[:300]}")
    return artifact.library
