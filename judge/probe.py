"""What a trial of something that judging needs found on this machine."""

from __future__ import annotations

from emulator.records import dataclass


@dataclass(frozen=True, slots=True)
class Probe:
    """One thing that was tried, and whether it works here.

    If a ``required`` one does not, submissions must not run here; without another, something is only weaker or missing.
    ``remedy`` is a command to type, or what to do.
    """

    name: str
    ok: bool
    detail: str
    remedy: str = ""
    required: bool = True
