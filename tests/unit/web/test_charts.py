from __future__ import annotations

import re
from xml.etree import ElementTree

from web.charts import MAX_DOTS, WIDTH, interval_bar, process_chart, strip_chart


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
