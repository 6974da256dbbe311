"""Charts as SVG made here: no script, no inline style, readable by a screen reader through their title."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from markupsafe import Markup

WIDTH, HEIGHT = 640, 74
LEFT, RIGHT, BASELINE = 12, 12, 50
#: The height of a process's lane, and how many of its samples are drawn.
LANE, MOST_DOTS = 34, 200
#: Samples so many interquartile ranges above the upper quartile are far out (Tukey's fence).
FAR_OUT = 3.0


def strip_chart(samples: Sequence[float], label: Callable[[float], str], title: str) -> Markup:
    """All samples as dots on one axis, the interquartile range behind them and the median as a line.

    Dots that would cover each other are stacked. Empty for fewer than two samples: there is no spread to show.
    """
    if len(samples) < 2:
        return Markup("")
    ordered = sorted(samples)
    lower, median, upper = statistics.quantiles(ordered, n=4, method="inclusive")
    across = _axis(ordered[0], ordered[-1])
    parts = [
        Markup('<svg class="strip" viewBox="0 0 {} {}" role="img"><title>{}</title>').format(WIDTH, HEIGHT, title),
        _band(across(lower), across(upper), BASELINE - 6),
        _baseline(BASELINE),
    ]
    parts += [
        Markup('<circle class="dot" cx="{}" cy="{}" r="4"/>').format(x, BASELINE - 6 - 7 * (level % 5))
        for x, level in _stacked([across(value) for value in ordered])
    ]
    line = Markup('<line class="median" x1="{0}" x2="{0}" y1="4" y2="{1}"/>')
    parts.append(line.format(across(median), BASELINE + 4))
    parts += _labels(BASELINE, across, ordered[0], median, ordered[-1], label)
    return Markup("").join([*parts, Markup("</svg>")])


def process_chart(
    processes: Sequence[Sequence[float]],
    label: Callable[[float], str],
    title: str,
    interval: tuple[float, float] | None = None,
) -> Markup:
    """The samples of each process in a lane of its own, from top to bottom in the order of the calls, with the lane's
    median as a line; behind all of them the 95 % ``interval``. Calls that took far longer than the others are drawn,
    hollow, at the right edge. Empty where there is no spread to show."""
    lanes = [list(samples) for samples in processes if samples]
    everything = sorted(sample for samples in lanes for sample in samples)
    if len(everything) < 2:
        return Markup("")
    lower, median, upper = statistics.quantiles(everything, n=4, method="inclusive")
    fence = max(upper + FAR_OUT * (upper - lower), interval[1] if interval else 0.0)
    slowest = max(sample for sample in everything if sample <= fence)
    least = min(everything[0], interval[0] if interval else everything[0])
    across = _axis(least, max(slowest, interval[1] if interval else slowest))
    bottom = 6 + LANE * len(lanes)
    parts = [Markup('<svg class="strip" viewBox="0 0 {} {}" role="img"><title>{}</title>').format(
        WIDTH, bottom + HEIGHT - BASELINE, title
    )]  # fmt: skip
    if interval:
        parts.append(_band(across(interval[0]), across(interval[1]), bottom - 6))
    for lane, samples in enumerate(lanes):
        top = 8 + LANE * lane
        for place, sample in _thinned(samples):
            y = round(top + (LANE - 8) * (place + 0.5) / len(samples), 1)
            dot = Markup('<circle class="{}" cx="{}" cy="{}" r="2.5"/>')
            parts.append(
                dot.format("dot", across(sample), y) if sample <= slowest else dot.format("far", WIDTH - RIGHT, y)
            )
        line = Markup('<line class="median" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>')
        parts.append(line.format(across(min(statistics.median(samples), slowest)), top - 1, top + LANE - 7))
    parts.append(_baseline(bottom))
    parts += _labels(bottom, across, everything[0], median, slowest, label)
    return Markup("").join([*parts, Markup("</svg>")])


def interval_bar(value: float, ends: tuple[float, float] | None, window: tuple[float, float], title: str) -> Markup:
    """A value as a dot and its interval as a bar with caps, on the scale that ``window`` spans over the whole width;
    what reaches beyond it is cut off there. As wide as the place it is put in."""
    first, last = window

    def across(at: float) -> float:
        return round(4 + 92 * min(max((at - first) / (last - first), 0.0), 1.0), 2) if last > first else 50.0

    parts = [Markup('<svg class="interval" role="img"><title>{}</title>').format(title)]
    if ends is not None:
        low, high = (across(end) for end in ends)
        parts.append(Markup('<line x1="{}%" x2="{}%" y1="8" y2="8"/>').format(low, high))
        cap = Markup('<line x1="{0}%" x2="{0}%" y1="3" y2="13"/>')
        parts += [cap.format(place) for end, place in zip(ends, (low, high), strict=True) if first <= end <= last]
    parts.append(Markup('<circle cx="{}%" cy="8" r="3.5"/>').format(across(value)))
    return Markup("").join([*parts, Markup("</svg>")])


def _axis(low: float, high: float) -> Callable[[float], float]:
    """From values to places across the chart."""
    # Equal samples still need an axis: a thousandth of the value, or one where it is zero.
    margin = (high - low) * 0.06 or abs(high) * 1e-3 or 1.0
    low, high = low - margin, high + margin
    return lambda value: round(LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT), 1)


def _band(left: float, right: float, height: float) -> Markup:
    band = Markup('<rect class="iqr" x="{}" y="6" width="{}" height="{}" rx="3"/>')
    return band.format(left, max(round(right - left, 1), 1), height)


def _baseline(y: float) -> Markup:
    return Markup('<line class="axis" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>').format(LEFT, WIDTH - RIGHT, y)


def _labels(
    y: float, across: Callable[[float], float], low: float, median: float, high: float, label: Callable[[float], str]
) -> list[Markup]:
    middle = min(max(across(median), LEFT + 150), WIDTH - RIGHT - 150)
    return [
        Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(x, y + 19, anchor, text)
        for x, anchor, text in (
            (LEFT, "start", label(low)),
            (middle, "middle", f"median {label(median)}"),
            (WIDTH - RIGHT, "end", label(high)),
        )
    ]


def _thinned(samples: Sequence[float]) -> list[tuple[int, float]]:
    """At most MOST_DOTS of them, evenly taken, with their places; always the slowest."""
    step = -(-len(samples) // MOST_DOTS)
    slowest = max(range(len(samples)), key=samples.__getitem__)
    return [(place, sample) for place, sample in enumerate(samples) if place % step == 0 or place == slowest]


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
