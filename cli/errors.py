"""What ends a command early, and the exit codes that are not verdicts (those are ``Verdict.exit_code``)."""

from __future__ import annotations

FAILED = 1
USAGE = 2
UNREACHABLE = 3
NOT_ALLOWED = 4
RATE_LIMITED = 5
INTERNAL = 20
INTERRUPTED = 130


class CliError(Exception):
    """Shown as ``error: message`` and, below it, ``hint``; the process ends with ``exit_code``."""

    def __init__(self, message: str, *, exit_code: int = FAILED, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code
        self.hint = hint


class UsageError(CliError):
    """The command cannot be carried out as it was typed."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message, exit_code=USAGE, hint=hint)
