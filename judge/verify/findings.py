"""The findings of a verification: how bad, which rule, where, and what to do about it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from judge.packs.errors import PackError
from records import dataclass


class Severity(StrEnum):
    """An ERROR makes the verification fail. A WARNING should be mended or is a matter of judgement; a NOTE informs."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """``code`` names the rule; ``key`` says where in the file (it may be empty)."""

    severity: Severity
    code: str
    file: Path
    key: str
    message: str

    def __str__(self) -> str:
        where = f"{self.file}: {self.key}" if self.key else str(self.file)
        return f"{where}: {self.message} [{self.severity}: {self.code}]"


def error(code: str, file: Path, key: str, message: str) -> Finding:
    """Returns a finding that makes the verification fail."""
    return Finding(Severity.ERROR, code, file, key, message)


def warning(code: str, file: Path, key: str, message: str) -> Finding:
    """Returns a finding that an author should look at; the verification does not fail."""
    return Finding(Severity.WARNING, code, file, key, message)


def note(code: str, file: Path, key: str, message: str) -> Finding:
    """Returns a finding that only informs."""
    return Finding(Severity.NOTE, code, file, key, message)


def of_pack_error(problem: PackError) -> Finding:
    """Returns the finding of a pack that does not load."""
    return error("load", problem.file, problem.key, problem.reason)
