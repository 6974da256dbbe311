from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from judge.packs.collection.live import LivePacks, PackProblem
from judge.packs.errors import PackError


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_changes_are_seen_without_a_restart(pack_directory: Path, second_pack: Path, edit: Callable[..., Path]) -> None:
    problems: list[PackError] = []
    clock = Clock()
    packs = LivePacks([pack_directory.parent], problems.append, clock)
    assert list(packs) == ["another", "scale"]
    edit("Scale a vector", "Scale one")
    assert packs["scale"].title == "Scale a vector", "the files are not looked at for every request"
    clock.now += 10
    assert packs["scale"].title == "Scale one"
    shutil.rmtree(second_pack)
    clock.now += 10
    assert list(packs) == ["scale"]
    assert problems == []


def test_a_pack_that_breaks_is_served_as_it_last_was(pack_directory: Path, edit: Callable[..., Path]) -> None:
    problems: list[PackError] = []
    packs = LivePacks([pack_directory.parent], problems.append)
    edit('difficulty = "easy"', 'difficulty = "odd"')
    packs.refresh()
    assert packs["scale"].difficulty == "easy"
    assert len(problems) == 1
    edit("[axes]", "[axes] ")
    packs.refresh()
    assert len(problems) == 1, "the same problem is reported once"
    edit('difficulty = "odd"', 'difficulty = "hard"')
    packs.refresh()
    assert packs["scale"].difficulty == "hard"


def test_one_that_was_never_good_is_left_out(pack_directory: Path) -> None:
    (pack_directory / "reference.py").write_text("def reference(:\n")
    packs = LivePacks([pack_directory.parent])
    assert "scale" not in packs
    assert len(packs) == 0


def test_problems_are_told_as_long_as_they_last(pack_directory: Path, edit: Callable[..., Path]) -> None:
    packs = LivePacks([pack_directory.parent])
    assert packs.problems == ()
    edit('difficulty = "easy"', 'difficulty = "odd"')
    packs.refresh()
    (problem,) = packs.problems
    assert (problem.slug, problem.file.name, problem.key, problem.served) == (
        "scale",
        "challenge.toml",
        "difficulty",
        "2.3.4",
    )
    assert problem.reason
    packs.refresh()
    assert packs.problems == (problem,)
    edit('difficulty = "odd"', 'difficulty = "hard"')
    packs.refresh()
    assert packs.problems == ()


def test_of_one_that_was_never_good_nothing_is_served(pack_directory: Path) -> None:
    (pack_directory / "reference.py").write_text("def reference(:\n")
    (problem,) = LivePacks([pack_directory.parent]).problems
    assert (problem.slug, problem.served) == ("scale", None)


def test_a_folder_that_is_not_there_is_no_packs_fault(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere"
    reason = "is not a directory; give a pack or a folder of packs"
    assert LivePacks([missing]).problems == (PackProblem("", missing, "", reason, None),)
