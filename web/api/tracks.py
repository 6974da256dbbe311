"""API endpoints for tracks. Progress needs a token."""

from __future__ import annotations

from flask import Blueprint

from judge.tracks.loader import builtin_tracks
from web.api import schemas
from web.api.auth import api_visitor, token_required
from web.api.spec import operation, revalidated
from web.challenges.shown import shown_packs
from web.services import reader
from web.tracks.progress import Done, TrackView, read_done, view_track
from web.tracks.views import find_track

TAG = "tracks"


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the API's blueprint."""
    blueprint.add_url_rule("/tracks", view_func=list_tracks)
    blueprint.add_url_rule("/tracks/<slug>", view_func=get_track)
    blueprint.add_url_rule("/tracks/<slug>/progress", view_func=get_track_progress)


@revalidated
@operation(schemas.TrackList, 304, token=False, tag=TAG)
def list_tracks() -> schemas.TrackList:
    """Lists the tracks in their order."""
    views = [view_track(track, shown_packs(), Done()) for track in builtin_tracks().tracks]
    return schemas.TrackList(tracks=[_summary(view) for view in views if view.steps])


@revalidated
@operation(schemas.Track, 304, 404, token=False, tag=TAG)
def get_track(slug: str) -> schemas.Track:
    """Returns a track with its challenges, their goals and lessons."""
    view = view_track(find_track(slug), shown_packs(), Done())
    return schemas.Track(
        **dict(_summary(view)),
        steps=[
            schemas.TrackStep(
                challenge=each.step.challenge,
                title=each.pack.title,
                difficulty=each.pack.difficulty,
                teaches=each.step.teaches,
                goal=each.step.goal.key,
                goal_text=each.step.goal.text,
                why=each.step.why,
                lesson=each.step.lesson_text(),
                kernel=each.step.kernel(),
                language=each.step.language.name,
            )
            for each in view.steps
        ],
    )


@token_required
@operation(schemas.TrackProgress, 404, tag=TAG)
def get_track_progress(slug: str) -> schemas.TrackProgress:
    """Returns which challenges of a track the token's owner has solved, and whose goals were reached."""
    done = read_done(reader(), user_id=api_visitor().id)
    view = view_track(find_track(slug), shown_packs(), done)
    return schemas.TrackProgress(
        track=view.track.slug,
        solved=[each.step.challenge for each in view.steps if each.status != "new"],
        reached=[each.step.challenge for each in view.steps if each.status == "reached"],
    )


def _summary(view: TrackView) -> schemas.TrackSummary:
    track = view.track
    return schemas.TrackSummary(
        slug=track.slug,
        title=track.title,
        summary=track.summary,
        reason=track.reason,
        challenges=[each.step.challenge for each in view.steps],
    )
