"""The goal of a challenge in a track, and how far a submission reaches it, in words."""

from __future__ import annotations

from dataclasses import dataclass

from judge.judgement import Judgement
from judge.measurements import Measurement, ModelledCase
from judge.tracks.goal import check_goal
from judge.tracks.loader import builtin_tracks
from judge.tracks.track import Track
from web.formatting import significant


@dataclass(frozen=True, slots=True)
class GoalView:
    """``value`` is empty where the judgement lacks the figure: without a profile, or without anything to count."""

    track: Track
    has_lesson: bool
    reached: bool
    value: str
    text: str
    why: str


def present_goal(judgement: Judgement) -> GoalView | None:
    """Returns the view; None for a challenge without a goal, or a judgement that is not accepted and timed."""
    found = builtin_tracks().of(judgement.challenge)
    result = None if found is None else check_goal(found[1].goal, judgement)
    if found is None or result is None:
        return None
    track, step = found
    value = "" if result.value is None else significant(result.value)
    if value:
        shown = f"This submission: {step.goal.said(value)}"
    elif judgement.measurement is not None and _is_modelled(judgement.measurement):
        shown = "Nothing in this submission counts toward the goal"
    else:
        shown = "Only the emulator counts this: submit to it, too"
    return GoalView(
        track=track,
        has_lesson=step.lesson is not None,
        reached=result.reached,
        value=value,
        text=f"{shown}. The goal: {step.goal.text}.",
        why=step.why,
    )


def _is_modelled(measurement: Measurement) -> bool:
    return any(isinstance(case, ModelledCase) for case in measurement.cases)
