"""The error of a pack that cannot be used."""

from __future__ import annotations

from pathlib import Path

from judge.errors import InternalError


class PackError(InternalError):
    """A broken pack: ``file`` and ``key`` say where, ``reason`` says what is wrong and what to do about it.

    While a submission is judged it is an InternalError like any other: no fault of the submission.
    """

    def __init__(self, file: Path, key: str, reason: str) -> None:
        self.file = file
        self.key = key
        self.reason = reason
        super().__init__(f"{file}: {key}: {reason}" if key else f"{file}: {reason}")
