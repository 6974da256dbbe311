"""Starts runners that have no submission yet. Light to import: one may start before the rest of the judge is there."""

from __future__ import annotations

from collections import deque
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from judge.settings import JudgeSettings
from judge.supervisor.launcher import Launcher
from judge.supervisor.process import Pending, RunnerEnded, RunnerProcess
from judge.supervisor.runner_spec import RunnerSpec
from judge.wire.frames import Op
from judge.wire.messages import StartRequest
from records import dataclass

__all__ = ["EarlyRunners", "RunnerEnded", "StartedRunner", "WaitingRunners", "start_request", "start_runner"]

#: The shared memory of a runner that waits for a submission. It is sparse: pages exist once written.
REGION_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class StartedRunner:
    """A runner that has no submission yet. Its device is starting, or is up if ``starting`` is None."""

    process: RunnerProcess
    starting: Pending | None

    def wait(self, limit_s: float) -> StartedRunner:
        """Returns once the device is up. Raises RunnerEnded, RequestRefused and Cancelled."""
        if self.starting is None:
            return self
        self.process.receive(self.starting, limit_s)
        return StartedRunner(self.process, None)


def start_runner(launcher: Launcher, start: StartRequest, print_bytes: int) -> StartedRunner:
    """Starts a runner without waiting. The calling thread must outlive it. Raises RunnerEnded, InternalError."""
    process = RunnerProcess(launcher, start.input_bytes, start.output_bytes, print_limit=print_bytes)
    return StartedRunner(process, process.send(Op.START, start.pack()))


def start_request(spec: RunnerSpec, settings: JudgeSettings, input_bytes: int, output_bytes: int) -> StartRequest:
    """Returns the first message to every runner of the device, with shared memory of these sizes."""
    return StartRequest(
        device_module=spec.device_module,
        ordinal=spec.ordinal,
        library=str(spec.library or ""),
        threads=spec.threads,
        input_bytes=input_bytes,
        output_bytes=output_bytes,
        lock=settings.jail != "off",
        pytorch=spec.pytorch,
    )


class WaitingRunners(Protocol):
    """Runners that were started before a session needed them."""

    def take(self, input_bytes: int, output_bytes: int) -> StartedRunner | None:
        """Returns a runner with regions of at least these sizes, which then belongs to the caller, or None."""

    def quiet(self, *, wait: bool = True) -> AbstractContextManager[None]:
        """Starts no runner until the block ends. With ``wait``, enters once the runners being started are up."""


class EarlyRunners:
    """Runners started by this thread at once, as many as a judgement takes. ``close`` ends those not taken.

    Raises RunnerEnded and InternalError.
    """

    def __init__(self, launcher: Launcher, spec: RunnerSpec, settings: JudgeSettings, count: int) -> None:
        request = start_request(spec, settings, REGION_BYTES, REGION_BYTES)
        self._runners: deque[StartedRunner] = deque()
        try:
            for _ in range(count):
                self._runners.append(start_runner(launcher, request, settings.run.output_bytes))
        except BaseException:
            self.close()
            raise

    def take(self, input_bytes: int, output_bytes: int) -> StartedRunner | None:
        if max(input_bytes, output_bytes) > REGION_BYTES:
            self.close()
        return self._runners.popleft() if self._runners else None

    def quiet(self, *, wait: bool = True) -> AbstractContextManager[None]:
        del wait
        return nullcontext()

    def close(self) -> None:
        """Idempotent."""
        while self._runners:
            self._runners.pop().process.close()
