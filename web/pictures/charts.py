"""Charts as inline SVG, without scripts or inline styles. Screen readers read their title."""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import pairwise

from markupsafe import Markup

from web.pictures.svg import Shape

WIDTH, HEIGHT = 640, 74
LEFT, RIGHT, BASELINE = 12, 12, 50
#: The height of a process's lane, and the largest number of its samples that is drawn.
LANE, MAX_DOTS = 34, 200
#: Samples this many interquartile ranges above the upper quartile are outliers (Tukey's fence).
OUTLIER_IQRS = 3.0
#: The number of bars that show how values are distributed.
BANDS = 24


def strip_chart(samples: Sequence[float], label: Callable[[float], str], title: str) -> Markup:
    """Draws all samples as dots on one axis, with the interquartile range as a band and the median as a line.

    Stacks dots that would overlap. Returns an empty string for fewer than two samples, which have no spread.
    """
    if len(samples) < 2:
        return Markup("")
    ordered = sorted(samples)
    lower, median, upper = statistics.quantiles(ordered, n=4, method="inclusive")
    to_x = _axis(ordered[0], ordered[-1])
    parts = [
        Shape('<svg class="strip" viewBox="0 0 {} {}" role="img"><title>{}</title>').format(WIDTH, HEIGHT, title),
        _band(to_x(lower), to_x(upper), BASELINE - 6),
        _baseline(BASELINE),
    ]
    parts += [
        Shape('<circle class="dot" cx="{}" cy="{}" r="4"/>').format(x, BASELINE - 6 - 7 * (level % 5))
        for x, level in _stacked([to_x(value) for value in ordered])
    ]
    line = Shape('<line class="median" x1="{0}" x2="{0}" y1="4" y2="{1}"/>')
    parts.append(line.format(to_x(median), BASELINE + 4))
    parts += _labels(BASELINE, to_x, ordered[0], median, ordered[-1], label)
    return Markup("").join([*parts, Markup("</svg>")])


def process_chart(
    processes: Sequence[Sequence[float]],
    label: Callable[[float], str],
    title: str,
    interval: tuple[float, float] | None = None,
) -> Markup:
    """Draws the samples of each process in its own lane, with the lane's median as a line.

    Within a lane, calls go from top to bottom in the order in which they ran. A band shows the 95 % ``interval``.
    Outliers are hollow dots at the right edge. Returns an empty string for fewer than two samples.
    """
    lanes = [list(samples) for samples in processes if samples]
    everything = sorted(sample for samples in lanes for sample in samples)
    if len(everything) < 2:
        return Markup("")
    lower, median, upper = statistics.quantiles(everything, n=4, method="inclusive")
    fence = max(upper + OUTLIER_IQRS * (upper - lower), interval[1] if interval else 0.0)
    slowest = max(sample for sample in everything if sample <= fence)
    least = min(everything[0], interval[0] if interval else everything[0])
    to_x = _axis(least, max(slowest, interval[1] if interval else slowest))
    bottom = 6 + LANE * len(lanes)
    parts = [
        Shape('<svg class="strip" viewBox="0 0 {} {}" role="img"><title>{}</title>').format(
            WIDTH, bottom + HEIGHT - BASELINE, title
        )
    ]
    if interval:
        parts.append(_band(to_x(interval[0]), to_x(interval[1]), bottom - 6))
    for lane, samples in enumerate(lanes):
        top = 8 + LANE * lane
        for index, sample in _thinned(samples):
            y = round(top + (LANE - 8) * (index + 0.5) / len(samples), 1)
            dot = Shape('<circle class="{}" cx="{}" cy="{}" r="2.5"/>')
            parts.append(
                dot.format("dot", to_x(sample), y) if sample <= slowest else dot.format("far", WIDTH - RIGHT, y)
            )
        line = Shape('<line class="median" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>')
        parts.append(line.format(to_x(min(statistics.median(samples), slowest)), top - 1, top + LANE - 7))
    parts.append(_baseline(bottom))
    parts += _labels(bottom, to_x, everything[0], median, slowest, label)
    return Markup("").join([*parts, Markup("</svg>")])


def interval_bar(value: float, ends: tuple[float, float] | None, window: tuple[float, float], title: str) -> Markup:
    """Draws a value as a dot and its interval as a bar with caps; the chart fills its container's width.

    ``window`` gives the values at the left and right edges; what lies outside is clipped.
    """
    first, last = window

    def to_x(at: float) -> float:
        return round(4 + 92 * min(max((at - first) / (last - first), 0.0), 1.0), 2) if last > first else 50.0

    parts = [Shape('<svg class="interval" role="img"><title>{}</title>').format(title)]
    if ends is not None:
        low, high = (to_x(end) for end in ends)
        parts.append(Shape('<line x1="{}%" x2="{}%" y1="8" y2="8"/>').format(low, high))
        cap = Shape('<line x1="{0}%" x2="{0}%" y1="3" y2="13"/>')
        parts += [cap.format(x) for end, x in zip(ends, (low, high), strict=True) if first <= end <= last]
    parts.append(Shape('<circle cx="{}%" cy="8" r="3.5"/>').format(to_x(value)))
    return Markup("").join([*parts, Markup("</svg>")])


def distribution_chart(
    values: Sequence[float], own: float, label: Callable[[float], str], title: str, name: str = "this one"
) -> Markup:
    """Draws how many values lie in each of a few bands of a logarithmic axis, with a line at ``own``, called ``name``.

    Values must be positive and ascend: many thousands are drawn in no time. Returns an empty string for fewer than two.
    """
    if len(values) < 2 or values[0] <= 0:
        return Markup("")
    low, high = math.log(min(values[0], own)), math.log(max(values[-1], own))
    width = (high - low) / BANDS or 1.0
    begins = [bisect_left(values, math.exp(low + band * width)) for band in range(1, BANDS)]
    counts = [end - begin for begin, end in pairwise((0, *begins, len(values)))]
    bar_width = (WIDTH - LEFT - RIGHT) / BANDS
    bottom, tallest = 96, max(counts)
    parts = [Shape('<svg class="strip" viewBox="0 0 {} {}" role="img"><title>{}</title>').format(WIDTH, 120, title)]
    for band, count in enumerate(counts):
        if not count:
            continue
        height = round(72 * count / tallest, 1)
        rect = Shape('<rect class="count" x="{}" y="{}" width="{}" height="{}" rx="2"><title>{}</title></rect>')
        span = f"{label(math.exp(low + band * width))} to {label(math.exp(low + (band + 1) * width))}: {count}"
        x = round(LEFT + band * bar_width + 1, 1)
        parts.append(rect.format(x, round(bottom - height, 1), round(bar_width - 2, 1), height, span))
    at = round(LEFT + (math.log(own) - low) / (width * BANDS) * (WIDTH - LEFT - RIGHT), 1)
    parts.append(Shape('<line class="median" x1="{0}" x2="{0}" y1="14" y2="{1}"/>').format(at, bottom + 4))
    parts.append(_baseline(bottom))
    anchor = "start" if at < WIDTH / 3 else "end" if at > 2 * WIDTH / 3 else "middle"
    for x, y, side, text in (
        (LEFT, bottom + 19, "start", label(math.exp(low))),
        (WIDTH - RIGHT, bottom + 19, "end", label(math.exp(high))),
        (at, 10, anchor, f"{name}, {label(own)}"),
    ):
        parts.append(Shape('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(x, y, side, text))
    return Markup("").join([*parts, Markup("</svg>")])


def history_chart(values: Sequence[float], current: int | None, label: Callable[[float], str], title: str) -> Markup:
    """Draws values in their order on a logarithmic axis, with the best so far as a line of steps.

    The dot of ``current`` is filled. Values must be positive. Returns an empty string for fewer than two.
    """
    if len(values) < 2 or min(values) <= 0:
        return Markup("")
    low, high = math.log(min(values)), math.log(max(values))
    top, bottom = 24, 186

    def to_x(index: int) -> float:
        return round(LEFT + 70 + index * (WIDTH - LEFT - RIGHT - 80) / (len(values) - 1), 1)

    def to_y(value: float) -> float:
        return round(bottom - (math.log(value) - low) / ((high - low) or 1.0) * (bottom - top), 1)

    parts = [Shape('<svg class="strip" viewBox="0 0 {} {}" role="img"><title>{}</title>').format(WIDTH, 216, title)]
    best, path = values[0], f"M{to_x(0)} {to_y(values[0])}"
    for index, value in enumerate(values[1:], start=1):
        path += f"H{to_x(index)}"
        if value < best:
            best = value
            path += f"V{to_y(best)}"
    parts.append(Shape('<path class="best" d="{}"/>').format(path))
    for index, value in enumerate(values):
        dot = Shape('<circle class="{}" cx="{}" cy="{}" r="{}"><title>{}</title></circle>')
        style, radius = ("current", 5) if index == current else ("dot", 3.5)
        parts.append(dot.format(style, to_x(index), to_y(value), radius, label(value)))
    for y, value in ((top + 4, max(values)), (bottom + 4, min(values))):
        parts.append(Shape('<text x="{}" y="{}">{}</text>').format(LEFT, y, label(value)))
    parts.append(Shape('<text x="{}" y="{}">time, logarithmic</text>').format(LEFT, top - 12))
    for index, anchor in ((0, "middle"), (len(values) - 1, "end")):
        text = Shape('<text x="{}" y="{}" text-anchor="{}">{}</text>')
        parts.append(text.format(to_x(index), bottom + 24, anchor, f"{index + 1:,}"))
    middle = Shape('<text x="{}" y="{}" text-anchor="middle">submission, oldest first</text>')
    parts.append(middle.format(round((to_x(0) + to_x(len(values) - 1)) / 2, 1), bottom + 24))
    return Markup("").join([*parts, Markup("</svg>")])


def course_chart(points: Sequence[tuple[datetime, float]], label: Callable[[float], str], title: str) -> Markup:
    """Draws how a figure went over time, from the least to the greatest value. Each dot's title is its day and value.

    Returns an empty string for fewer than two points.
    """
    if len(points) < 2:
        return Markup("")
    ordered = sorted(points)
    first, span = ordered[0][0], (ordered[-1][0] - ordered[0][0]).total_seconds() or 1.0
    low, high = min(value for _, value in ordered), max(value for _, value in ordered)
    top, bottom = 10, 96

    def at(moment: datetime, value: float) -> tuple[float, float]:
        x = LEFT + 110 + (moment - first).total_seconds() / span * (WIDTH - LEFT - RIGHT - 120)
        y = bottom - ((value - low) / (high - low) if high > low else 0.5) * (bottom - top)
        return round(x, 1), round(y, 1)

    parts = [Shape('<svg class="strip" viewBox="0 0 {} {}" role="img"><title>{}</title>').format(WIDTH, 124, title)]
    line = " ".join(f"{x},{y}" for x, y in (at(*point) for point in ordered))
    parts.append(Shape('<polyline class="best" points="{}"/>').format(line))
    for moment, value in ordered:
        x, y = at(moment, value)
        dot = Shape('<circle class="dot" cx="{}" cy="{}" r="3.5"><title>{:%Y-%m-%d}: {}</title></circle>')
        parts.append(dot.format(x, y, moment, label(value)))
    for y, value in ((top + 4, high), (bottom + 4, low)) if high > low else (((top + bottom) / 2 + 4, high),):
        parts.append(Shape('<text x="{}" y="{}">{}</text>').format(LEFT, y, label(value)))
    for moment, anchor in ((ordered[0][0], "start"), (ordered[-1][0], "end")):
        text = Shape('<text x="{}" y="{}" text-anchor="{}">{:%Y-%m-%d}</text>')
        parts.append(text.format(at(moment, low)[0], bottom + 22, anchor, moment))
    return Markup("").join([*parts, Markup("</svg>")])


def _axis(low: float, high: float) -> Callable[[float], float]:
    """Returns a function from values to x coordinates."""
    # Equal samples still need an axis of some width: a thousandth of the value, or 1 if the value is zero.
    margin = (high - low) * 0.06 or abs(high) * 1e-3 or 1.0
    low, high = low - margin, high + margin
    return lambda value: round(LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT), 1)


def _band(left: float, right: float, height: float) -> Markup:
    band = Shape('<rect class="iqr" x="{}" y="6" width="{}" height="{}" rx="3"/>')
    return band.format(left, max(round(right - left, 1), 1), height)


def _baseline(y: float) -> Markup:
    return Shape('<line class="axis" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>').format(LEFT, WIDTH - RIGHT, y)


def _labels(
    y: float, to_x: Callable[[float], float], low: float, median: float, high: float, label: Callable[[float], str]
) -> list[Markup]:
    middle = min(max(to_x(median), LEFT + 150), WIDTH - RIGHT - 150)
    return [
        Shape('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(x, y + 19, anchor, text)
        for x, anchor, text in (
            (LEFT, "start", label(low)),
            (middle, "middle", f"median {label(median)}"),
            (WIDTH - RIGHT, "end", label(high)),
        )
    ]


def _thinned(samples: Sequence[float]) -> list[tuple[int, float]]:
    """Returns at most about MAX_DOTS evenly spaced samples with their indices; always includes the slowest."""
    step = -(-len(samples) // MAX_DOTS)
    slowest = max(range(len(samples)), key=samples.__getitem__)
    return [(index, sample) for index, sample in enumerate(samples) if index % step == 0 or index == slowest]


def _stacked(positions: Sequence[float], apart: float = 5.0) -> list[tuple[float, int]]:
    """Returns each position with the lowest level at which no dot to its left overlaps it."""
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
