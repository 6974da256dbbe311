"""The error that ends a backup or a restoration."""

from __future__ import annotations


class BackupError(Exception):
    """Says why nothing was written or restored, and in ``hint`` what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.hint = message, hint
