"""What a runner answers to a request that it cannot do."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from judge.devices.base import DeviceError
from judge.runner.frames import Failure
from judge.runner.messages import FailedReply


class Refused(Exception):
    """A request that cannot be done: what to reply."""

    def __init__(self, failure: Failure, message: str, code: int = 0, name: str = "") -> None:
        super().__init__(message)
        self.reply = FailedReply(failure, code, name, message)


@contextlib.contextmanager
def device_errors() -> Iterator[None]:
    """Turns a DeviceError into Refused: too little memory is told apart from everything else."""
    try:
        yield
    except DeviceError as error:
        failure = Failure.MEMORY if error.name == "cudaErrorMemoryAllocation" else Failure.CUDA
        raise Refused(failure, error.message, error.code, error.name) from None
