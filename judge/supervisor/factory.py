"""Makes the sessions of one judgement: what the runner is told at its start, and the limits that hold for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from emulator.model import load_gpu
from judge.judgement import DeviceInfo
from judge.packs.pack import Case, Pack
from judge.runner.messages import LoadRequest, StartRequest
from judge.settings import JudgeSettings
from judge.supervisor.launcher import Launcher
from judge.supervisor.layout import argument_specs, region_sizes
from judge.supervisor.session import Bounds, Session, StartedRunner, start_runner
from judge.supervisor.warm import WarmRunners

DEVICE_MODULES = {"emulator": "judge.devices.emulator", "cuda": "judge.devices.cuda"}
#: What the emulator executes at most per call; at its speed the wall clock ends nearly everything sooner.
EMULATOR_WARP_INSTRUCTIONS = 20_000_000_000
#: The emulator ends a kernel at the limit by itself, and does not count the time in which it compiles it: seconds for a
#: large one on a busy machine. This side's clock is for host code that does not come back.
EMULATOR_GRACE_S = 12.0
#: The output region has room for the small outputs of a whole burst, whatever the cases.
BURST_OUTPUT_BYTES = 2 << 20


@dataclass(frozen=True, slots=True)
class SessionFactory:
    """``start`` makes a session that is still starting; call it in a thread that outlives the session."""

    launcher: Launcher
    request: StartRequest
    submission: LoadRequest
    bounds: Bounds
    cancelled: Callable[[], bool]
    warm: WarmRunners | None = None

    @property
    def emulated(self) -> bool:
        """Whether the device can look for more than a GPU can."""
        return self.request.device_module == DEVICE_MODULES["emulator"]

    def start_runner(self) -> StartedRunner:
        """One that waits already, or a new one."""
        if self.warm is not None:
            waiting = self.warm.take(self.request.input_bytes, self.request.output_bytes)
            if waiting is not None:
                return waiting
        return start_runner(self.launcher, self.request, self.bounds.print_bytes)

    def quiet(self, *, wait: bool = True) -> AbstractContextManager[None]:
        """While times are taken, or cores are wanted: no runner is started but those asked for here. With ``wait``,
        none is about to come up either."""
        return nullcontext() if self.warm is None else self.warm.quiet(wait=wait)

    def at(self, processor: int | None) -> SessionFactory:
        """One whose sessions are on this processor when they load a submission, and stay there; on any for None."""
        return dataclasses.replace(self, submission=dataclasses.replace(self.submission, processor=processor))

    def start(self) -> Session:
        return Session(self.start_runner(), self.submission, self.bounds, self.cancelled)


def session_factory(
    pack: Pack, cases: Sequence[Case], device: DeviceInfo, settings: JudgeSettings, launcher: Launcher, *,
    library: Path | None, cancelled: Callable[[], bool], warm: WarmRunners | None = None,
) -> SessionFactory:  # fmt: skip
    """For these cases of a pack on a device. ``library`` is the emulator's native library; ``warm`` are runners of this
    device under these settings."""
    sizes = [region_sizes(pack, case) for case in cases]
    input_bytes = max(first for first, _ in sizes)
    emulated = device.kind == "emulator"
    output_bytes = max(BURST_OUTPUT_BYTES, *(second for _, second in sizes))
    request = dataclasses.replace(
        start_request(device, settings, library), input_bytes=input_bytes, output_bytes=output_bytes
    )
    submission = LoadRequest(
        arguments=argument_specs(pack.arguments),
        # What solve may allocate itself comes on top of the largest case's arguments and what lies around them.
        memory_bytes=(pack.limits.memory_mib << 20) + input_bytes + output_bytes + (1 << 20) if emulated else 0,
        warp_instructions=EMULATOR_WARP_INSTRUCTIONS if emulated else 0,
        wall_s=pack.limits.wall_s if emulated else 0.0,
        l2_bytes=load_gpu(settings.emulator_gpu).memory.l2_bytes if emulated else 0,
    )
    bounds = Bounds(
        start_s=settings.run.start_s,
        call_s=pack.limits.wall_s,
        total_s=settings.run.wall_s,
        print_bytes=settings.run.output_bytes,
        grace_s=EMULATOR_GRACE_S if emulated else 0.0,
    )
    return SessionFactory(launcher, request, submission, bounds, cancelled, warm)


def start_request(device: DeviceInfo, settings: JudgeSettings, library: Path | None) -> StartRequest:
    """What every runner of the device is told at its start; its shared memory is still to be sized."""
    return StartRequest(
        device_module=DEVICE_MODULES[device.kind],
        # A jail has one GPU, whatever its number is outside.
        ordinal=int(device.details.get("ordinal", 0)) if settings.jail == "off" else 0,
        library=str(library or ""),
        threads=settings.emulator_threads or 0,
        input_bytes=0,
        output_bytes=0,
        lock=settings.jail != "off",
    )


def warm_pool(
    device: DeviceInfo, settings: JudgeSettings, launcher: Launcher, count: int, *,
    library: Path | None, report: Callable[[str], None],
) -> WarmRunners:  # fmt: skip
    """``count`` runners of the device that wait, for the factories made with the same arguments."""
    request = start_request(device, settings, library)

    def start(input_bytes: int, output_bytes: int) -> StartedRunner:
        sized = dataclasses.replace(request, input_bytes=input_bytes, output_bytes=output_bytes)
        return start_runner(launcher, sized, settings.run.output_bytes)

    return WarmRunners(start, count, start_s=settings.run.start_s, report=report)
