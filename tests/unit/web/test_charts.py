from __future__ import annotations

import re
from xml.etree import ElementTree

from web.charts import WIDTH, strip_chart


def _circles(svg: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r'<circle class="dot" cx="([\d.]+)" cy="([\d.]+)"', svg)]


def test_every_sample_is_drawn_within_the_chart() -> None:
    samples = [1.0, 1.1, 1.2, 1.15, 9.0]
    svg = strip_chart(samples, str, "five calls")
    ElementTree.fromstring(svg)
    circles = _circles(svg)
    assert len(circles) == 5
    assert all(0 < x < WIDTH for x, _ in circles)
    assert "five calls" in svg
    assert "median 1.15" in svg


def test_equal_samples_are_stacked_not_hidden() -> None:
    circles = _circles(strip_chart([2.0, 2.0, 2.0], str, "same"))
    assert len({y for _, y in circles}) == 3


def test_labels_are_escaped() -> None:
    assert "<b>" not in strip_chart([1.0, 2.0], lambda _: "<b>", "<b>")


def test_one_sample_has_no_spread_to_show() -> None:
    assert strip_chart([1.0], str, "one") == ""


def test_zero_samples_do_not_divide_by_zero() -> None:
    assert len(_circles(strip_chart([0.0, 0.0], str, "zeros"))) == 2
