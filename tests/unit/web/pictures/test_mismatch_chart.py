from __future__ import annotations

from xml.etree import ElementTree

import pytest

from judge.judgement import MismatchMap
from web.pictures.mismatch_chart import map_in_words, mismatch_chart


def test_neighbours_of_one_level_are_one_box_and_fuller_cells_are_darker() -> None:
    root = ElementTree.fromstring(mismatch_chart(MismatchMap(2, 4, ("0990", "0001")), "<C>"))
    boxes = [box for box in root.iter("rect") if box.get("class") == "wrong"]
    assert [(box.get("x"), box.get("y"), box.get("width")) for box in boxes] == [("40", "0", "80"), ("120", "80", "40")]
    assert float(boxes[0].get("fill-opacity", "")) == 1.0
    assert 0.25 < float(boxes[1].get("fill-opacity", "")) < 0.5
    assert root.findtext("title") == "<C>"


@pytest.mark.parametrize(
    ("found", "axes"),
    [
        (MismatchMap(1, 3000, ("0" * 63 + "1",)), ["0", "element", "2,999"]),
        (MismatchMap(1024, 512, ("0" * 64,) * 32), ["0", "column", "511", "0", "row", "1,023"]),
    ],
)
def test_a_map_is_high_enough_to_be_seen_and_has_axes(found: MismatchMap, axes: list[str]) -> None:
    root = ElementTree.fromstring(mismatch_chart(found, "C"))
    assert [text.text for text in root.iter("text")] == axes
    frame = next(box for box in root.iter("rect") if box.get("class") == "frame")
    assert int(frame.get("height", "0")) >= 160
    assert int(frame.get("width", "0")) >= 160


def test_a_map_is_told_in_words() -> None:
    tile = MismatchMap(1024, 1024, ("0" * 64,) * 31 + ("0" * 63 + "3",))
    assert map_in_words(tile) == (
        "The wrong elements lie in rows 992 to 1,023 of 1,024, columns 1,008 to 1,023 of 1,024, counted from 0. "
        "A cell is up to 32 × 16 elements; the fuller its color, the more of them are wrong."
    )
    vector = MismatchMap(1, 3, ("090",))
    assert map_in_words(vector) == (
        "The wrong elements lie in elements 1 to 1 of 3, counted from 0. Each cell is one element."
    )
