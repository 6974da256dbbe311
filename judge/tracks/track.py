"""A track as everyone uses it: frozen data."""

from __future__ import annotations

from pathlib import Path

from judge.languages.base import Language
from judge.tracks.goal import Goal
from records import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """A challenge in a track. ``teaches`` says in a sentence what is learnt, ``why`` why the goal shows it.

    ``lesson`` is the path of its lesson, without suffix; None where there is none. ``language`` is that of its kernel.
    """

    challenge: str
    teaches: str
    goal: Goal
    why: str
    lesson: Path | None
    language: Language

    def lesson_text(self) -> str:
        """Returns the lesson in Markdown; empty without one."""
        return "" if self.lesson is None else self.lesson.with_suffix(".md").read_text(encoding="utf-8")

    def drawing(self) -> str:
        """Returns the lesson's drawing, an SVG element; empty without a lesson."""
        return "" if self.lesson is None else self.lesson.with_suffix(".svg").read_text(encoding="utf-8")

    def kernel(self) -> str:
        """Returns the lesson's kernel, which is accepted; empty without a lesson."""
        return (
            ""
            if self.lesson is None
            else self.lesson.with_suffix(self.language.suffixes[0]).read_text(encoding="utf-8")
        )


@dataclass(frozen=True, slots=True)
class Track:
    """Challenges in an order. ``summary`` says what they teach, ``reason`` why in this order."""

    slug: str
    title: str
    order: int
    summary: str
    reason: str
    steps: tuple[Step, ...]

    def step(self, challenge: str) -> Step | None:
        """Returns the step of a challenge, or None."""
        return next((step for step in self.steps if step.challenge == challenge), None)


@dataclass(frozen=True, slots=True)
class Tracks:
    """All tracks in their order. Each challenge is in one track at most, so it has one goal."""

    tracks: tuple[Track, ...]

    def find(self, slug: str) -> Track | None:
        """Returns the track of that name, or None."""
        return next((track for track in self.tracks if track.slug == slug), None)

    def of(self, challenge: str) -> tuple[Track, Step] | None:
        """Returns the track and the step of a challenge, or None."""
        for track in self.tracks:
            step = track.step(challenge)
            if step is not None:
                return track, step
        return None

    def goal_of(self, challenge: str) -> Goal | None:
        """Returns the goal of a challenge, or None."""
        found = self.of(challenge)
        return None if found is None else found[1].goal
