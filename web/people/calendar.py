"""A year of days as a picture: a column for each week from Monday to Sunday, darker where more was sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from markupsafe import Markup

from web.pictures.svg import Shape

WEEKS = 53
#: A day's square with the gap behind it, and what the labels of months and weekdays take.
STEP, SQUARE = 12, 10
LEFT, TOP = 30, 16
#: A day with at least so many submissions has the level of its place, from 1.
LEVELS = (1, 3, 6, 10)


@dataclass(frozen=True, slots=True)
class Calendar:
    """The picture, and the same as a table: submissions and days with any, by month, the latest month first."""

    chart: Markup
    submissions: int
    days: int
    months: tuple[tuple[str, int, int], ...]


def first_day(today: date) -> date:
    """Returns the Monday with which the calendar begins."""
    return today - timedelta(days=today.weekday(), weeks=WEEKS - 1)


def present_calendar(counts: Mapping[date, int], today: date) -> Calendar:
    """Returns the calendar of the year that ends today. ``counts`` are submissions by day; days without may miss."""
    first = first_day(today)
    shown = {day: count for day, count in counts.items() if first <= day <= today and count > 0}
    months: dict[str, tuple[int, int]] = {}
    for day, count in sorted(shown.items(), reverse=True):
        sent, days = months.get(f"{day:%B %Y}", (0, 0))
        months[f"{day:%B %Y}"] = (sent + count, days + 1)
    return Calendar(
        _draw(shown, first, today),
        sum(shown.values()),
        len(shown),
        tuple((month, sent, days) for month, (sent, days) in months.items()),
    )


def _draw(counts: Mapping[date, int], first: date, today: date) -> Markup:
    title = f"{sum(counts.values())} submissions on {len(counts)} days in the year until {today:%-d %B %Y}"
    width, height = LEFT + WEEKS * STEP, TOP + 7 * STEP
    parts = [
        Shape('<svg class="calendar" viewBox="0 0 {} {}" role="img"><title>{}</title>').format(width, height, title)
    ]
    for row, name in ((0, "Mon"), (2, "Wed"), (4, "Fri")):
        parts.append(Shape('<text x="0" y="{}">{}</text>').format(TOP + row * STEP + SQUARE - 1, name))
    for week in range(WEEKS):
        monday = first + timedelta(weeks=week)
        # A month is named above the first week that begins in it; the first and last weeks have no room for a name.
        if monday.day <= 7 and week < WEEKS - 2:
            parts.append(Shape('<text x="{}" y="10">{}</text>').format(LEFT + week * STEP, f"{monday:%b}"))
        for row in range(7):
            day = monday + timedelta(days=row)
            if day <= today:
                parts.append(_square(day, counts.get(day, 0), LEFT + week * STEP, TOP + row * STEP))
    return Markup("").join([*parts, Markup("</svg>")])


def _square(day: date, count: int, x: int, y: int) -> Markup:
    level = sum(count >= least for least in LEVELS)
    square = Shape('<rect class="level-{}" x="{}" y="{}" width="{}" height="{}" rx="2">{}</rect>')
    told = f"{day:%-d %B %Y}: {count} submission{'' if count == 1 else 's'}"
    title = Shape("<title>{}</title>").format(told) if count else Markup("")
    return square.format(level, x, y, SQUARE, SQUARE, title)
