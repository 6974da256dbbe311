"""Formats scores and their intervals, with their units."""

from __future__ import annotations

from judge.interval import interval_digits


def format_score(value: float) -> str:
    """Returns a score with its unit: a time, measured or modelled, in ms or µs."""
    return f"{value * 1e3:.4g} ms" if value >= 1e-3 else f"{value * 1e6:.4g} µs"


def format_interval(value: float, low: float | None, high: float | None) -> str:
    """Returns the ends of a time's 95 % interval, in the unit of the formatted ``value``; empty if it has none."""
    if low is None or high is None:
        return ""
    digits = interval_digits(low, high)
    factor, unit = (1e3, "ms") if value >= 1e-3 else (1e6, "µs")
    return f"{low * factor:.{digits}g} to {high * factor:.{digits}g} {unit}"
