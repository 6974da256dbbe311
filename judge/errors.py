"""The ways in which judging stops without a judgement of the submission."""

from __future__ import annotations


class InternalError(Exception):
    """The judge's or the machine's fault, never the submission's: retried, and IE when that does not help.

    ``remedy`` is a command or a sentence for the operator, where one is known.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(f"{message} (remedy: {remedy})" if remedy else message)
        self.message = message
        self.remedy = remedy


class JailUnavailable(InternalError):
    """The jail could not be set up: nothing of the submission ran."""


class KilledFromOutside(InternalError):
    """Somebody outside killed a compiler, a runner or its jail, as far as can be seen.

    It may have been an operator, a service manager, or a container's OOM killer. What the process was doing says
    nothing about the submission.
    """


class Cancelled(Exception):
    """The caller no longer wants the judgement."""


class ToolchainMissing(InternalError):
    """There is no working nvcc, or no host compiler for it."""
