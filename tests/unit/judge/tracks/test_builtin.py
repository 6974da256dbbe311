"""The built-in tracks: they name challenges that exist, and their lessons can be shown as they are."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from judge.tracks.loader import builtin_tracks
from judge.tracks.track import Step
from tests.builds import ROOT

TRACKS = builtin_tracks().tracks
LESSONS = [step for track in TRACKS for step in track.steps if step.lesson is not None]
#: What a drawing is made of. Colours come from the site's classes, so that they fit light and dark.
ELEMENTS = {"svg", "title", "desc", "g", "rect", "line", "path", "polyline", "polygon", "circle", "text", "tspan"}
CLASSES = {"cell", "hot", "warm", "cool", "bad", "line", "flow", "wrong", "code", "note"}
SVG = "{http://www.w3.org/2000/svg}"


def test_there_are_eleven_tracks_in_an_order() -> None:
    assert [track.order for track in TRACKS] == list(range(1, 12))


def test_every_challenge_of_a_track_exists() -> None:
    named = {step.challenge for track in TRACKS for step in track.steps}
    assert {slug for slug in named if not (ROOT / "challenges" / slug / "challenge.toml").is_file()} == set()


def test_every_step_has_a_lesson() -> None:
    assert [step.challenge for track in TRACKS for step in track.steps if step.lesson is None] == []


def test_every_file_of_a_track_belongs_to_a_step() -> None:
    steps = {(track.slug, step.challenge) for track in TRACKS for step in track.steps}
    for path in (ROOT / "tracks").glob("*/*"):
        assert path.name == "track.toml" or (path.parent.name, path.stem) in steps, path


@pytest.mark.parametrize("step", LESSONS, ids=lambda step: step.challenge)
def test_a_lesson_has_its_length_and_a_drawing_without_script_or_colour(step: Step) -> None:
    words = len(re.sub(r"```.*?```", "", step.lesson_text(), flags=re.DOTALL).split())
    assert 400 <= words <= 900, words
    drawing = ElementTree.fromstring(step.drawing())
    assert drawing.tag == f"{SVG}svg"
    assert drawing.get("role") == "img"
    title = drawing.find(f"{SVG}title")
    assert title is not None
    assert title.text
    for element in drawing.iter():
        assert element.tag.removeprefix(SVG) in ELEMENTS
        assert set((element.get("class") or "").split()) <= CLASSES
        assert not [name for name in element.attrib if name.startswith("on") or name in ("style", "fill", "href")]
    assert "solve" in step.kernel()
