"""How far a user has come in the tracks: which challenges are solved, and which goals are reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sqlalchemy.orm import Session

from judge.packs.pack import Pack
from judge.tracks.track import Step, Track, Tracks
from store.boards.totals import seen_as_solved, solved_challenges
from store.teaching.goals import reached_goals

Status = Literal["reached", "solved", "new"]


@dataclass(frozen=True, slots=True)
class Done:
    """The challenges that a user has solved, and those whose goal was reached."""

    solved: frozenset[str] = frozenset()
    reached: frozenset[str] = frozenset()

    def status(self, challenge: str) -> Status:
        """Returns how far the user has come with a challenge."""
        return "reached" if challenge in self.reached else "solved" if challenge in self.solved else "new"


@dataclass(frozen=True, slots=True)
class StepView:
    """A step whose challenge the site has, with the user's status. ``number`` counts from 1."""

    number: int
    step: Step
    pack: Pack
    status: Status


@dataclass(frozen=True, slots=True)
class TrackView:
    """A track with the steps that the site has the challenges of."""

    track: Track
    steps: tuple[StepView, ...]

    @property
    def solved(self) -> int:
        """How many challenges are solved."""
        return sum(view.status != "new" for view in self.steps)

    @property
    def reached(self) -> int:
        """How many goals are reached."""
        return sum(view.status == "reached" for view in self.steps)

    @property
    def unsolved(self) -> StepView | None:
        """The first step whose challenge is not solved; None where all are."""
        return next((view for view in self.steps if view.status == "new"), None)

    @property
    def following(self) -> StepView | None:
        """The first step whose goal is not reached; None after the last."""
        return next((view for view in self.steps if view.status != "reached"), None)

    def at(self, challenge: str) -> int | None:
        """Returns the place of a challenge among the steps, from 0; None where the track does not have it."""
        return next((at for at, view in enumerate(self.steps) if view.step.challenge == challenge), None)


@dataclass(frozen=True, slots=True)
class PlaceInTrack:
    """Where a challenge stands in its track: its step, and those before and after it, None at the ends."""

    view: TrackView
    current: StepView
    before: StepView | None
    after: StepView | None


def find_place(tracks: Tracks, challenge: str, packs: Mapping[str, Pack], done: Done) -> PlaceInTrack | None:
    """Returns the place of a challenge in its track; None for one in no track."""
    found = tracks.of(challenge)
    view = None if found is None else view_track(found[0], packs, done)
    at = None if view is None else view.at(challenge)
    if view is None or at is None:
        return None
    after = view.steps[at + 1] if at + 1 < len(view.steps) else None
    return PlaceInTrack(view, view.steps[at], view.steps[at - 1] if at else None, after)


def find_next(tracks: Tracks, packs: Mapping[str, Pack], done: Done, latest: str | None) -> PlaceInTrack | None:
    """Returns the step to go on with, the first unsolved one of a track.

    The track is the one that ``latest``, the challenge that the user sent to last, is in; else the first track that is
    begun, else the first one that is not finished.
    """
    views = [view_track(track, packs, done) for track in tracks.tracks]
    unfinished = [(view, step) for view in views if (step := view.unsolved) is not None]
    order = sorted(unfinished, key=lambda pair: (pair[0].at(latest or "") is None, pair[0].solved == 0))
    return find_place(tracks, order[0][1].step.challenge, packs, done) if order else None


def read_done(session: Session, *, user_id: int | None) -> Done:
    """Returns the user's solved challenges and reached goals; nothing for nobody."""
    if user_id is None:
        return Done()
    return Done(solved_challenges(session, user_id=user_id), reached_goals(session, user_id=user_id))


def read_seen(session: Session, *, user_id: int) -> Done:
    """Returns the part of a user's progress that everybody may know: without frozen results."""
    return Done(seen_as_solved(session, user_id=user_id), reached_goals(session, user_id=user_id, frozen=False))


def view_track(track: Track, packs: Mapping[str, Pack], done: Done) -> TrackView:
    """Returns the track for a user. Leaves out challenges that the site does not have."""
    steps = [step for step in track.steps if step.challenge in packs]
    return TrackView(
        track,
        tuple(
            StepView(number, step, packs[step.challenge], done.status(step.challenge))
            for number, step in enumerate(steps, start=1)
        ),
    )
