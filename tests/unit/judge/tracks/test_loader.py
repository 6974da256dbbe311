"""Tracks as read from their folders, and what is wrong with broken ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.tracks.loader import TrackError, load_tracks

TRACK = """
title = "First"
order = {order}
summary = "What a thread is."
reason = "One step needs the one before."

[[steps]]
challenge = "{challenge}"
teaches = "An index for each thread."
goal = "sectors_over_ideal <= 1.05"
why = "Neighbours read neighbours."
"""


def write(folder: Path, slug: str, **values: object) -> Path:
    (folder / slug).mkdir()
    file = folder / slug / "track.toml"
    file.write_text(TRACK.format(**{"order": 1, "challenge": "vector-add", **values}))
    return file


def test_tracks_come_in_their_order_and_a_challenge_is_found(tmp_path: Path) -> None:
    write(tmp_path, "later", order=2, challenge="matmul")
    write(tmp_path, "first", order=1)
    tracks = load_tracks(tmp_path)
    assert [track.slug for track in tracks.tracks] == ["first", "later"]
    found = tracks.of("matmul")
    assert found is not None
    assert (found[0].slug, found[1].teaches) == ("later", "An index for each thread.")
    goal = tracks.goal_of("vector-add")
    assert goal is not None
    assert goal.key == "sectors_over_ideal <= 1.05"
    assert (tracks.of("softmax"), tracks.goal_of("softmax"), tracks.find("softmax")) == (None, None, None)


def test_a_lesson_is_its_three_files(tmp_path: Path) -> None:
    folder = write(tmp_path, "first").parent
    [step] = load_tracks(tmp_path).tracks[0].steps
    assert (step.lesson, step.lesson_text(), step.drawing(), step.kernel()) == (None, "", "", "")
    for suffix, text in ((".md", "Words"), (".svg", "<svg/>"), (".cu", "code")):
        (folder / f"vector-add{suffix}").write_text(text)
    [step] = load_tracks(tmp_path).tracks[0].steps
    assert (step.lesson_text(), step.drawing(), step.kernel()) == ("Words", "<svg/>", "code")
    assert step.language.name == "cuda"
    (folder / "vector-add.svg").unlink()
    with pytest.raises(TrackError, match=r"vector-add\.svg: is missing"):
        load_tracks(tmp_path)


def test_the_kernels_of_a_track_are_in_its_language(tmp_path: Path) -> None:
    file = write(tmp_path, "first")
    file.write_text(file.read_text().replace("order = 1", 'order = 1\nlanguage = "triton"'))
    for suffix in (".md", ".svg", ".cu"):
        (file.parent / f"vector-add{suffix}").touch()
    with pytest.raises(TrackError, match=r"vector-add\.py: is missing"):
        load_tracks(tmp_path)
    (file.parent / "vector-add.py").write_text("def solve(): ...")
    [step] = load_tracks(tmp_path).tracks[0].steps
    assert (step.language.name, step.kernel()) == ("triton", "def solve(): ...")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("order = 1", "order = 0", "order"),
        ("order = 1", 'order = 1\nlanguage = "fortran"', "language: 'fortran' is not a language"),
        ('goal = "sectors_over_ideal <= 1.05"', 'goal = "sectors <= 1"', r"steps\.0\.goal: there is no figure sectors"),
        ('why = "', 'because = "', r"steps\.0\."),
        ("[[steps]]", "[[steps", "is not valid TOML"),
    ],
)
def test_a_broken_track_is_refused(tmp_path: Path, old: str, new: str, told: str) -> None:
    file = write(tmp_path, "first")
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(TrackError, match=told):
        load_tracks(tmp_path)


def test_a_challenge_has_one_goal(tmp_path: Path) -> None:
    write(tmp_path, "first")
    write(tmp_path, "second", order=2)
    with pytest.raises(TrackError, match="vector-add is in first, too"):
        load_tracks(tmp_path)
