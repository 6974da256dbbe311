"""The result of a trial, on this machine, of something that judging needs."""

from __future__ import annotations

from records import dataclass


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
