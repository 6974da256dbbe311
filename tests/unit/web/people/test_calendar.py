"""The year of days: where it begins, which days have which shade, and what the table says."""

from __future__ import annotations

import re
from datetime import date, timedelta

import pytest

from web.people.calendar import WEEKS, first_day, present_calendar

#: A Saturday.
TODAY = date(2026, 1, 3)


@pytest.mark.parametrize("back", range(9))
def test_it_begins_on_a_monday_and_ends_with_the_present_week(back: int) -> None:
    today = TODAY - timedelta(days=back)
    first = first_day(today)
    assert first.weekday() == 0
    assert timedelta(weeks=WEEKS - 1) <= today - first < timedelta(weeks=WEEKS)


@pytest.mark.parametrize(
    ("count", "level"), [(0, 0), (1, 1), (2, 1), (3, 2), (5, 2), (6, 3), (9, 3), (10, 4), (999, 4)]
)
def test_a_day_is_darker_where_more_was_sent(count: int, level: int) -> None:
    chart = present_calendar({TODAY: count}, TODAY).chart
    levels = re.findall(r'class="level-(\d)"', chart)
    assert levels[-1] == str(level)
    assert set(levels[:-1]) == {"0"}
    assert len(levels) == (TODAY - first_day(TODAY)).days + 1


def test_months_are_counted_the_latest_first() -> None:
    counts = {TODAY: 2, TODAY - timedelta(days=1): 1, date(2025, 12, 31): 4, date(2024, 12, 1): 7}
    calendar = present_calendar(counts, TODAY)
    assert calendar.months == (("January 2026", 3, 2), ("December 2025", 4, 1))
    assert (calendar.submissions, calendar.days) == (7, 3)
    assert "7 submissions on 3 days in the year until 3 January 2026" in calendar.chart
    assert "2 January 2026: 1 submission<" in calendar.chart


def test_an_empty_year_has_no_table() -> None:
    calendar = present_calendar({}, TODAY)
    assert (calendar.submissions, calendar.days, calendar.months) == (0, 0, ())
