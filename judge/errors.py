"""The two ways in which judging stops without a judgement of the submission."""

from __future__ import annotations


class InternalError(Exception):
    """The judge's or the machine's fault, never the submission's: retried, and IE when that does not help."""


class Cancelled(Exception):
    """Whoever asked for the judgement no longer wants it."""
