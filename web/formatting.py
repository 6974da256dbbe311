"""Template filters that format numbers, times and names. Each is a pure function."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from flask import Flask

from judge.interval import interval_digits
from judge.verdict import Verdict
from store.clock import Clock


def seconds(value: float | None, digits: int = 3) -> str:
    """Formats a duration with ``digits`` significant digits and a fitting unit: ``1.85 µs``, ``2.50 s``."""
    if value is None:
        return "–"
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        # The rounded number decides the unit: 999.96 µs is 1.00 ms.
        if value / factor >= 1 - 0.5 * 10**-digits:
            return f"{significant(value / factor, digits)} {unit}"
    return f"{significant(value / 1e-9, digits)} ns" if value > 0 else "0 s"


def milliseconds(value: float | None) -> str:
    """Formats a duration in ms, without the unit, for columns whose rows share it."""
    return "–" if value is None else significant(value * 1e3, 4)


def interval(low: float | None, high: float | None) -> str:
    """Formats a time interval with one unit and enough digits to tell its ends apart: ``125.0–125.4 µs``."""
    if low is None or high is None:
        return ""
    digits = interval_digits(low, high)
    last, _, unit = seconds(high, digits).partition(" ")
    factor = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}[unit]
    # Both ends get the decimals of the upper one.
    return f"{low / factor:,.{len(last.partition('.')[2])}f}–{last} {unit}"


def significant(value: float | None, digits: int = 3) -> str:
    """Formats a number with at least ``digits`` significant digits and no exponent: ``0.0123``, ``12,346``."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    # The exponent after rounding: 0.99996 becomes 1.00.
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])
    return f"{value:,.{max(digits - 1 - exponent, 0)}f}"


def whole(value: float | None) -> str:
    """Formats a count: ``1,234,567``."""
    return "–" if value is None else f"{value:,.0f}"


def percent(value: float | None) -> str:
    """Formats a fraction as a percentage: ``0.3 %``."""
    return "–" if value is None else f"{value * 100:.1f} %"


def points(value: float) -> str:
    """Formats points of a grade with at most two decimals: ``100``, ``33.33``."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def size(value: float | None) -> str:
    """Formats a number of bytes in binary units: ``256 KiB``."""
    if value is None:
        return "–"
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            return f"{significant(value) if value % 1 else whole(value)} {unit}"
        value /= 1024
    raise AssertionError("unreachable")


def verdict_title(code: str) -> str:
    """Returns ``wrong answer`` for ``WA``. Returns an unknown code unchanged."""
    try:
        return Verdict(code).in_words
    except ValueError:
        return code


def figure(value: Any) -> str:
    """Formats an element of a mismatch: floats with nine digits, which distinguish all float32 values."""
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def day(moment: datetime | None) -> str:
    """Formats the date of an instant, in UTC."""
    return "" if moment is None else moment.astimezone(UTC).strftime("%-d %b %Y")


def as_utc(moment: datetime) -> datetime:
    """Returns the instant that a form's field, which has no time zone, means: all are in UTC."""
    return moment.replace(tzinfo=UTC)


def iso(moment: datetime | None) -> str:
    """Formats an instant as ISO 8601 in UTC."""
    return "" if moment is None else moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def browser(user_agent: str) -> str:
    """Names the browser and the system of a User-Agent, as far as it tells: ``Firefox on Linux``."""
    # The order matters: Edge and Opera also claim to be Chrome, and Chrome to be Safari.
    browsers = (("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("Chrome", "Chrome"), ("Safari", "Safari"))
    systems = (
        *(("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows")),
        *(("Mac OS", "macOS"), ("CrOS", "ChromeOS"), ("Linux", "Linux")),
    )
    program = next((name for mark, name in browsers if f"{mark}/" in user_agent), "")
    system = next((name for mark, name in systems if mark in user_agent), "")
    if not program:
        return user_agent[:40] or "An unnamed program"
    return f"{program} on {system}" if system else program


def make_ago(clock: Clock) -> Callable[[datetime | None], str]:
    """Returns a filter that formats the age of an instant; after 30 days, its date."""

    def ago(moment: datetime | None) -> str:
        if moment is None:
            return "never"
        age_s = (clock() - moment).total_seconds()
        if age_s < 60:
            return "just now"
        for limit_s, unit_s, name in ((3600, 60, "minute"), (86400, 3600, "hour"), (30 * 86400, 86400, "day")):
            if age_s < limit_s:
                count = int(age_s // unit_s)
                return f"{count} {name}{'' if count == 1 else 's'} ago"
        return moment.strftime("%-d %B %Y")

    return ago


def register_filters(app: Flask, clock: Clock) -> None:
    """Registers every filter under its function's name, and ``ago``."""
    filters = (
        seconds,
        milliseconds,
        significant,
        whole,
        percent,
        points,
        size,
        verdict_title,
        figure,
        day,
        iso,
        browser,
    )
    app.jinja_env.filters.update({function.__name__: function for function in filters})
    app.jinja_env.filters["ago"] = make_ago(clock)
