"""Makes the sessions of one judgement: the first message to their runners, and their limits."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from judge.packs.pack import Case, Pack
from judge.settings import JudgeSettings
from judge.supervisor.launcher import Launcher
from judge.supervisor.layout import argument_specs, region_sizes
from judge.supervisor.runner_spec import DeviceBounds, RunnerSpec
from judge.supervisor.runner_start import StartedRunner, WaitingRunners, start_request, start_runner
from judge.supervisor.session import Bounds, Session
from judge.wire.bursts import GUARD_BYTES, ReserveRequest
from judge.wire.messages import LoadRequest, StartRequest
from records import dataclass

#: The output region has room for the small outputs of a whole burst, whatever the cases.
BURST_OUTPUT_BYTES = 2 << 20


@dataclass(frozen=True, slots=True)
class SessionFactory:
    """Makes sessions. Call ``start`` in a thread that outlives the session, which is still starting then."""

    launcher: Launcher
    request: StartRequest
    submission: LoadRequest
    bounds: Bounds
    cancelled: Callable[[], bool]
    warm: WaitingRunners | None = None
    #: Whether the device can repeat a call with memcheck, racecheck and initcheck.
    has_checks: bool = False
    #: What a session reserves of the device's memory before it loads a submission, unless it was told to reserve more.
    reservation: ReserveRequest | None = None

    def start_runner(self) -> StartedRunner:
        """Returns a runner that waits, or a new one."""
        if self.warm is not None:
            waiting = self.warm.take(self.request.input_bytes, self.request.output_bytes)
            if waiting is not None:
                return waiting
        return start_runner(self.launcher, self.request, self.bounds.print_bytes)

    def quiet(self, *, wait: bool = True) -> AbstractContextManager[None]:
        """Keeps new warm runners from starting, while times are taken or processors are busy.

        With ``wait``, a warm runner that is starting is up first.
        """
        return nullcontext() if self.warm is None else self.warm.quiet(wait=wait)

    def at(self, processor: int | None) -> SessionFactory:
        """Returns a factory whose sessions load submissions on this processor and stay there; None: on any."""
        return dataclasses.replace(self, submission=dataclasses.replace(self.submission, processor=processor))

    def on_threads(self, threads: int) -> SessionFactory:
        """Returns a factory in whose sessions the device works on no more threads than these; 0: on all it has."""
        return dataclasses.replace(self, submission=dataclasses.replace(self.submission, threads=threads))

    def start(self) -> Session:
        return Session(self.start_runner(), self.submission, self.bounds, self.cancelled, self.reservation)


def region_bytes(pack: Pack, cases: Sequence[Case]) -> tuple[int, int]:
    """Returns the sizes of the input and the output region that the largest of these cases need."""
    sizes = [region_sizes(pack, case) for case in cases]
    return max(first for first, _ in sizes), max(BURST_OUTPUT_BYTES, *(second for _, second in sizes))


def session_factory(
    pack: Pack,
    regions: tuple[int, int],
    spec: RunnerSpec,
    bounds: DeviceBounds,
    settings: JudgeSettings,
    launcher: Launcher,
    *,
    cancelled: Callable[[], bool],
    warm: WaitingRunners | None = None,
) -> SessionFactory:
    """Returns the factory for cases whose ``regions`` have these sizes.

    ``warm`` are runners of the same ``spec``.
    """
    input_bytes, output_bytes = regions
    request = start_request(spec, settings, input_bytes, output_bytes)
    submission = LoadRequest(
        arguments=argument_specs(pack.arguments),
        memory_bytes=bounds.memory_bytes,
        warp_instructions=bounds.warp_instructions,
        wall_s=bounds.wall_s,
        gpu=bounds.gpu,
    )
    session_bounds = Bounds(
        start_s=settings.run.start_s + spec.start_s,
        call_s=pack.limits.wall_s,
        total_s=settings.run.wall_s,
        print_bytes=settings.run.output_bytes,
        grace_s=bounds.grace_s,
    )
    # Guard bands surround each argument of a judged call.
    spare = input_bytes + output_bytes + len(pack.arguments) * 3 * GUARD_BYTES
    reservation = ReserveRequest(spare=spare) if spec.reserves else None
    return SessionFactory(launcher, request, submission, session_bounds, cancelled, warm, spec.has_checks, reservation)
