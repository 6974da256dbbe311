"""A course from its roster to the grades in Canvas and at the platform, as ``benchmarks/course.py`` runs one of 200."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.course import check, simulate


@pytest.mark.slow(20)
def test_every_grade_of_a_course_arrives(tmp_path: Path) -> None:
    course = simulate(tmp_path, 11)
    check(course)
    assert sorted(course.earned.values()) == [0.0] + 10 * [20.0]
    assert len(course.times) == 8
