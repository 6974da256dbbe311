"""The list of tracks, the page of each with the visitor's progress, and the lessons."""

from __future__ import annotations

from flask import Blueprint, render_template
from markupsafe import Markup

from judge.tracks.loader import builtin_tracks
from judge.tracks.track import Track
from web.accounts.visitor import signed_in
from web.challenges.shown import shown_packs
from web.problems import Problem
from web.services import reader
from web.source import highlight_block
from web.statement import render_statement
from web.tracks.progress import Done, TrackView, read_done, view_track

blueprint = Blueprint("tracks", __name__, url_prefix="/tracks")


@blueprint.get("/")
def index() -> str:
    """Renders the tracks in their order."""
    done, packs = _done(), shown_packs()
    views = [view_track(track, packs, done) for track in builtin_tracks().tracks]
    return render_template("tracks/index.html", tracks=[view for view in views if view.steps])


@blueprint.get("/<slug>")
def show(slug: str) -> str:
    """Renders a track: why it is in this order, its challenges, their goals and the visitor's progress."""
    return render_template("tracks/show.html", view=_view(slug))


@blueprint.get("/<slug>/<challenge>")
def lesson(slug: str, challenge: str) -> str:
    """Renders a lesson: its text, its drawing and its kernel, and the goal."""
    view = _view(slug)
    at = view.at(challenge)
    if at is None or view.steps[at].step.lesson is None:
        raise Problem(404, "not_found", "There is no such lesson.")
    step = view.steps[at].step
    return render_template(
        "tracks/lesson.html",
        view=view,
        current=view.steps[at],
        text=render_statement(step.lesson_text()),
        # Lessons come with gpujudge; a test checks that their drawings have no script.
        drawing=Markup(step.drawing()),  # noqa: S704 (ours, without scripts)
        kernel=highlight_block(step.kernel(), step.language.grammar),
        before=view.steps[at - 1] if at else None,
        after=view.steps[at + 1] if at + 1 < len(view.steps) else None,
    )


def _view(slug: str) -> TrackView:
    return view_track(find_track(slug), shown_packs(), _done())


def find_track(slug: str) -> Track:
    """Returns the track. Raises Problem 404 for an unknown one."""
    track = builtin_tracks().find(slug)
    if track is None:
        names = ", ".join(each.slug for each in builtin_tracks().tracks)
        raise Problem(404, "not_found", f"There is no track “{slug[:64]}”. There are: {names}.")
    return track


def _done() -> Done:
    visitor = signed_in()
    return read_done(reader(), user_id=None if visitor is None else visitor.id)
