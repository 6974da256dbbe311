"""The verdicts of the judge and their words, and how the verdicts of cases make the verdict of a submission."""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable


class Verdict(enum.StrEnum):
    """The verdict on a case or a whole submission. Users, the API and the database see the value."""

    ACCEPTED = "AC"
    WRONG_ANSWER = "WA"
    COMPILE_ERROR = "CE"
    RUNTIME_ERROR = "RE"
    TIME_LIMIT_EXCEEDED = "TLE"
    MEMORY_LIMIT_EXCEEDED = "MLE"
    OUTPUT_LIMIT_EXCEEDED = "OLE"
    SECURITY_VIOLATION = "SV"
    TIMING_NOT_TRUSTED = "TI"
    INTERNAL_ERROR = "IE"

    @property
    def in_words(self) -> str:
        """The verdict in words, such as ``wrong answer``."""
        return self.name.replace("_", " ").lower()

    @property
    def exit_code(self) -> int:
        """The exit code of the command line: 0 for AC, 10 to 20 for the others."""
        return _EXIT_CODES[self]


_EXIT_CODES = {
    Verdict.ACCEPTED: 0,
    Verdict.WRONG_ANSWER: 10,
    Verdict.COMPILE_ERROR: 11,
    Verdict.RUNTIME_ERROR: 12,
    Verdict.TIME_LIMIT_EXCEEDED: 13,
    Verdict.MEMORY_LIMIT_EXCEEDED: 14,
    Verdict.OUTPUT_LIMIT_EXCEEDED: 15,
    Verdict.SECURITY_VIOLATION: 16,
    Verdict.TIMING_NOT_TRUSTED: 17,
    Verdict.INTERNAL_ERROR: 20,
}


def combine_verdicts(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of the whole: that of the first case that is not accepted, as contests have it.

    Raises ValueError when there is none: a judgement without cases is a bug, not an AC.
    """
    combined: Verdict | None = None
    for verdict in verdicts:
        if verdict is not Verdict.ACCEPTED:
            return verdict
        combined = verdict
    if combined is None:
        raise ValueError("no case was judged")
    return combined


def faults_in_words(kinds: Collection[str]) -> str:
    """Returns the end of a sentence on accepted cases with faults of these kinds: ``showed a race``."""
    if all(kind.startswith("out-of-bounds") for kind in kinds):
        return "touched memory outside the buffers"
    return "showed a race" if all(kind.startswith("race ") for kind in kinds) else "had memory errors"
