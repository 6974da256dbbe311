from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

from web.pictures.charts import (
    BANDS,
    MAX_DOTS,
    WIDTH,
    course_chart,
    distribution_chart,
    history_chart,
    interval_bar,
    process_chart,
    strip_chart,
)


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


def test_each_process_has_its_lane_and_what_is_far_out_squeezes_nobody() -> None:
    lanes = [[1.0, 1.1, 1.2, 1.15] * 5, [1.05, 1.1, 1.12, 50.0] * 2]
    svg = process_chart(lanes, str, "two processes", (1.08, 1.13))
    root = ElementTree.fromstring(svg)
    dots = [dot for dot in root.findall("circle") if dot.get("class") == "dot"]
    far = [dot for dot in root.findall("circle") if dot.get("class") == "far"]
    assert (len(dots), len(far)) == (26, 2)
    assert max(float(dot.get("cx", "")) for dot in dots) > WIDTH / 2
    heights = [float(dot.get("cy", "")) for dot in dots]
    assert max(heights[:20]) < min(heights[20:])
    assert heights[:20] == sorted(heights[:20]), "in the order of the calls"
    assert len([line for line in root.findall("line") if line.get("class") == "median"]) == 2


def test_of_many_samples_some_are_drawn() -> None:
    lane = [1.0 + (number % 97) / 1000 for number in range(5000)]
    assert 0 < len(_circles_of_processes([lane])) <= MAX_DOTS + 1


def _circles_of_processes(lanes: list[list[float]]) -> list[str]:
    return re.findall("<circle", process_chart(lanes, str, "many"))


def test_processes_without_spread_are_not_drawn_or_do_not_divide_by_zero() -> None:
    assert process_chart([], str, "none") == ""
    assert process_chart([[1.0]], str, "one") == ""
    assert len(_circles_of_processes([[0.0, 0.0], [0.0]])) == 3


def test_an_error_bar_is_cut_off_at_the_window() -> None:
    def lines(svg: str) -> list[tuple[float, float]]:
        return [(float(a), float(b)) for a, b in re.findall(r'x1="([\d.]+)%" x2="([\d.]+)%"', svg)]

    whole = interval_bar(1.5, (1.25, 1.75), (1.0, 2.0), "t")
    ElementTree.fromstring(whole)
    assert lines(whole) == [(27.0, 73.0), (27.0, 27.0), (73.0, 73.0)]
    assert lines(interval_bar(1.5, (0.5, 1.75), (1.0, 2.0), "t")) == [(4.0, 73.0), (73.0, 73.0)], "no cap at the edge"
    assert lines(interval_bar(1.5, None, (1.0, 2.0), "t")) == []
    assert 'cx="50.0%"' in interval_bar(1.0, (1.0, 1.0), (1.0, 1.0), "t")
    assert "<b>" not in interval_bar(1.0, None, (1.0, 2.0), "<b>")


def test_a_distribution_counts_every_value_and_marks_ones_own() -> None:
    values = [1e-5 * 1.3**step for step in range(20)]
    svg = distribution_chart(values, 3e-5, lambda value: f"{value:.2e}", "twenty")
    root = ElementTree.fromstring(svg)
    bars = root.findall("rect")
    assert 0 < len(bars) <= BANDS
    assert sum(int(str(bar.findtext("title")).rsplit(": ", 1)[1]) for bar in bars) == 20
    line = next(line for line in root.findall("line") if line.get("class") == "median")
    assert 0 < float(line.get("x1", "")) < WIDTH / 3
    assert "this one, 3.00e-05" in svg


def test_values_that_are_all_equal_or_zero_have_a_picture_or_none() -> None:
    ElementTree.fromstring(distribution_chart([2.0, 2.0], 2.0, str, "equal"))
    ElementTree.fromstring(history_chart([2.0, 2.0], 0, str, "equal"))
    assert distribution_chart([1.0], 1.0, str, "one") == ""
    assert distribution_chart([0.0, 1.0], 1.0, str, "zero") == ""
    assert history_chart([1.0], 0, str, "one") == ""


def test_a_history_steps_down_with_the_best_so_far() -> None:
    svg = history_chart([5.0, 7.0, 3.0, 4.0], 2, str, "four")
    root = ElementTree.fromstring(svg)
    dots = root.findall("circle")
    assert [dot.get("class") for dot in dots] == ["dot", "dot", "current", "dot"]
    across = [float(dot.get("cx", "")) for dot in dots]
    assert across == sorted(across)
    path = root.find("path")
    assert path is not None
    assert path.get("d", "").count("V") == 1, "one submission was better than all before it"
    assert float(dots[2].get("cy", "")) > float(dots[1].get("cy", "")), "shorter times lie lower"
    assert float(root.get("viewBox", "").split()[3]) >= 160
    texts = [text.text for text in root.findall("text")]
    assert texts == ["7.0", "3.0", "time, logarithmic", "1", "4", "submission, oldest first"]


def test_a_course_is_drawn_by_time_whatever_the_order() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    points = [(start + timedelta(days=day), value) for day, value in ((10, 3.0), (0, 1.0), (4, 5.0))]
    svg = course_chart(points, lambda value: f"<{value:g}>", "course & all")
    ElementTree.fromstring(svg)
    circles = _circles(svg)
    assert len(circles) == 3
    assert all(0 < x < WIDTH for x, _ in circles)
    (first, low), (second, high), (third, middle) = circles
    assert round((second - first) / (third - first), 2) == 0.4  # day 4 of 10
    assert high < middle < low  # greater is higher up
    assert "2026-01-05: &lt;5&gt;" in svg
    assert course_chart(points[:1], str, "one") == ""
    even = course_chart([(moment, 2.0) for moment, _ in points], str, "even")
    assert len({y for _, y in _circles(even)}) == 1
    assert even.count(">2.0</text>") == 1
