"""Charts as SVG made here: no script, no inline style, readable by a screen reader through their title."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from markupsafe import Markup

WIDTH, HEIGHT = 640, 74
LEFT, RIGHT, BASELINE = 12, 12, 50


def strip_chart(samples: Sequence[float], label: Callable[[float], str], title: str) -> Markup:
    """All samples as dots on one axis, the interquartile range behind them and the median as a line.

    Dots that would cover each other are stacked. Empty for fewer than two samples: there is no spread to show.
    """
    if len(samples) < 2:
        return Markup("")
    ordered = sorted(samples)
    lower, median, upper = statistics.quantiles(ordered, n=4, method="inclusive")
    low, high = ordered[0], ordered[-1]
    # Equal samples still need an axis: a thousandth of the value, or one where it is zero.
    margin = (high - low) * 0.06 or abs(high) * 1e-3 or 1.0
    low, high = low - margin, high + margin

    def across(value: float) -> float:
        return round(LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT), 1)

    parts = [
        Markup('<svg class="strip" viewBox="0 0 {} {}" role="img"><title>{}</title>').format(WIDTH, HEIGHT, title),
        Markup('<rect class="iqr" x="{}" y="6" width="{}" height="{}" rx="3"/>').format(
            across(lower), max(round(across(upper) - across(lower), 1), 1), BASELINE - 6
        ),
        Markup('<line class="axis" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>').format(LEFT, WIDTH - RIGHT, BASELINE),
    ]
    parts += [
        Markup('<circle class="dot" cx="{}" cy="{}" r="4"/>').format(x, BASELINE - 6 - 7 * (level % 5))
        for x, level in _stacked([across(value) for value in ordered])
    ]
    line = Markup('<line class="median" x1="{0}" x2="{0}" y1="4" y2="{1}"/>')
    parts.append(line.format(across(median), BASELINE + 4))
    middle = min(max(across(median), LEFT + 150), WIDTH - RIGHT - 150)
    for x, anchor, text in (
        (LEFT, "start", label(ordered[0])),
        (middle, "middle", f"median {label(median)}"),
        (WIDTH - RIGHT, "end", label(ordered[-1])),
    ):
        parts.append(Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(x, BASELINE + 19, anchor, text))
    return Markup("").join([*parts, Markup("</svg>")])


def _stacked(positions: Sequence[float], apart: float = 5.0) -> list[tuple[float, int]]:
    """Each position with the lowest level at which nothing to its left touches it."""
    last_at_level: list[float] = []
    placed = []
    for x in positions:
        for level, last in enumerate(last_at_level):
            if x - last >= apart:
                last_at_level[level] = x
                break
        else:
            level = len(last_at_level)
            last_at_level.append(x)
        placed.append((x, level))
    return placed
