"""Errors that end a command, and the exit codes that are not verdicts (see ``Verdict.exit_code``)."""

from __future__ import annotations

FAILED = 1
USAGE = 2
UNREACHABLE = 3
NOT_ALLOWED = 4
RATE_LIMITED = 5
INTERNAL = 20
INTERRUPTED = 130


class CliError(Exception):
    """Ends the command with ``exit_code``, after ``error: message`` and, below it, ``hint``."""

    def __init__(self, message: str, *, exit_code: int = FAILED, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code
        self.hint = hint


class UsageError(CliError):
    """The command line is wrong."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message, exit_code=USAGE, hint=hint)


class Unreachable(CliError):
    """The server did not answer, or a proxy answered in its place."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message, exit_code=UNREACHABLE, hint=hint)


class RateLimited(CliError):
    """The server refuses for now, and says after how many seconds it takes the request."""

    def __init__(self, message: str, *, retry_after_s: int) -> None:
        super().__init__(message, exit_code=RATE_LIMITED, hint=f"Try again in {retry_after_s} s.")
        self.retry_after_s = retry_after_s


class NewerDatabase(CliError):
    """The database has the schema of a newer version."""

    def __init__(self) -> None:
        super().__init__(
            "the database was made by a newer gpujudge: this one does not know its schema",
            hint="Install that version, or restore the backup from before the upgrade.",
        )
