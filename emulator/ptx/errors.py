"""The errors that PTX can cause."""

from __future__ import annotations


class PtxError(Exception):
    """The text is not PTX, or not PTX that the parser can read."""


# What reading text that is no PTX may end with, where it is not looked at so closely as to say what is wrong.
MALFORMED = (ValueError, LookupError, TypeError, AttributeError, AssertionError, StopIteration)


class Unsupported(Exception):
    """The PTX is valid, but the emulator does not support it. ``what`` names the instruction or feature."""

    def __init__(self, what: str, file: str = "", line: int = 0) -> None:
        self.what = what
        self.file = file
        self.line = line
        place = f" ({file}:{line})" if line else ""
        super().__init__(f"{what} is not supported by the emulator{place}")
