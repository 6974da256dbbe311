"""The runner's reply to a request that it cannot fulfill."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from judge.runner.device import DeviceError
from judge.wire.frames import Failure
from judge.wire.messages import FailedReply


class Refused(Exception):
    """A request that cannot be fulfilled, with the reply."""

    def __init__(self, failure: Failure, message: str, code: int = 0, name: str = "") -> None:
        super().__init__(message)
        self.reply = FailedReply(failure, code, name, message)


@contextlib.contextmanager
def device_errors() -> Iterator[None]:
    """Turns a DeviceError into Refused, too little memory apart from all other errors."""
    try:
        yield
    except DeviceError as error:
        failure = Failure.MEMORY if error.name == "cudaErrorMemoryAllocation" else Failure.CUDA
        raise Refused(failure, error.message, error.code, error.name) from None
