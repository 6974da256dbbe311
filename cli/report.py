"""Reports the error that ended a command: what is wrong and what to do, on stderr, and with ``--json`` as an object."""

from __future__ import annotations

import errno
import itertools
from collections.abc import Sequence
from typing import Any

from cli import console
from cli.errors import (
    FAILED,
    INTERNAL,
    INTERRUPTED,
    NOT_ALLOWED,
    RATE_LIMITED,
    UNREACHABLE,
    USAGE,
    CliError,
    NewerDatabase,
)

#: The ``code`` in JSON, by exit code.
_CODES = {
    FAILED: "failed",
    USAGE: "usage",
    UNREACHABLE: "unreachable",
    NOT_ALLOWED: "not_allowed",
    RATE_LIMITED: "rate_limited",
    INTERNAL: "internal",
    INTERRUPTED: "interrupted",
}


def report(error: BaseException, argv: Sequence[str]) -> int:
    """Prints the error and returns the exit code."""
    told = explain(error)
    if hasattr(error, "show"):  # of Typer: the usage, with the message below
        error.show()
    elif told.message:
        console.say(f"error: {told.message}", "bold red")
        for line in told.hint.splitlines():
            console.say(line)
    if wants_json(argv) and not console.has_printed_json():
        code = _CODES.get(told.exit_code, "failed")
        console.print_json({"error": {"code": code, "message": told.message, "hint": told.hint}})
    return told.exit_code


def explain(error: BaseException) -> CliError:
    """Returns the message for any error."""
    if isinstance(error, CliError):
        return error
    if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "Abort":
        return CliError("interrupted", exit_code=INTERRUPTED)
    if hasattr(error, "format_message"):  # of Typer
        return CliError(error.format_message(), exit_code=USAGE)
    package = type(error).__module__.partition(".")[0]
    if package in ("judge", "store") and hasattr(error, "remedy"):
        return CliError(str(getattr(error, "message", error)), hint=str(error.remedy))
    if package == "sqlalchemy":
        return CliError(
            f"the database does not work: {_first_line(getattr(error, 'orig', None) or error)}",
            hint="`gpujudge doctor` tells more. GPUJUDGE_DATABASE_URL names the database.",
        )
    if package == "alembic":
        return _of_alembic(error)
    if isinstance(error, OSError):
        return _of_system(error)
    if isinstance(error, MemoryError):
        return CliError("there is not enough memory for this")
    if isinstance(error, UnicodeError):
        return CliError(f"the text cannot be encoded or decoded: {error}", hint="Use UTF-8: export LC_ALL=C.UTF-8.")
    return CliError(
        f"gpujudge failed, which is its own fault: {type(error).__name__}: {_first_line(error)}",
        exit_code=INTERNAL,
        hint="With GPUJUDGE_TRACEBACK=1 it shows where. Please report that.",
    )


def wants_json(argv: Sequence[str]) -> bool:
    """Returns whether ``--json`` is among the options of the command. In ``emulate`` it can only be the program's."""
    options = list(itertools.takewhile(lambda word: word != "--", argv))
    return "--json" in options and options[0] != "emulate"


def _of_system(error: OSError) -> CliError:
    where = f" {error.filename}" if error.filename else ""
    reason = error.strerror or str(error)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        hint = "Is it yours, and writable? GPUJUDGE_DATA_DIR names another data folder."
        return CliError(f"cannot use{where or ' a file'}: {reason}", hint=hint)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return CliError(f"cannot write{where}: {reason}", hint="Free some space, or name another folder.")
    return CliError(f"the system refused{where and f' to use{where}'}: {reason}")


def _of_alembic(error: BaseException) -> CliError:
    if "Can't locate revision" in str(error):
        return NewerDatabase()
    return CliError(f"the database cannot be migrated: {_first_line(error)}")


def _first_line(error: Any) -> str:
    return (str(error).strip().splitlines() or ["no reason given"])[0]
