"""The operators' pages of submissions: find them, cancel, judge again, take off their board and put back."""

from __future__ import annotations

from datetime import UTC, datetime

from flask import Blueprint, flash, redirect, render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from judge.verdict import Verdict
from store.models import Submission
from store.operation.administration import (
    NotPossibleError,
    cancel_for_operator,
    put_on_board,
    rejudge,
    rejudge_many,
    take_off_board,
)
from store.people.accounts import find_user
from store.submissions import get_submission, search_submissions
from web.admin.acting import acting, given_reason
from web.challenges.shown import find_pack
from web.problems import Problem
from web.services import reader, services

PAGE = 50
#: Judged again with one click: more would hold the database's writer for too long.
BATCH = 100


def register(blueprint: Blueprint) -> None:
    """Adds the routes."""
    blueprint.add_url_rule("/submissions", view_func=submissions)
    for name, view in (
        ("cancel", cancel),
        ("rejudge", rejudge_one),
        ("off-board", off_board),
        ("on-board", on_board),
    ):
        blueprint.add_url_rule(f"/submissions/<public_id>/{name}", view_func=view, methods=["POST"])
    blueprint.add_url_rule("/challenges/<slug>/rejudge", view_func=rejudge_challenge, methods=["POST"])


def submissions() -> str:
    """Renders the submissions that fit the query, the newest first."""
    given = {name: request.args.get(name, "").strip() for name in ("user", "challenge", "verdict")}
    user = find_user(reader(), given["user"]) if given["user"] else None
    found: list[Submission] = []
    if user is not None or not given["user"]:
        found = search_submissions(
            reader(),
            user_id=None if user is None else user.id,
            challenge=given["challenge"] or None,
            verdict=given["verdict"] or None,
            before=request.args.get("before"),
            limit=PAGE + 1,
        )
    return render_template(
        "admin/submissions.html",
        submissions=found[:PAGE],
        older=found[PAGE - 1].public_id if len(found) > PAGE else None,
        given=given,
        verdicts=list(Verdict),
        packs=services().all_packs,
    )


def cancel(public_id: str) -> Response:
    """Cancels a submission that is not judged yet."""
    with acting("It is cancelled.") as (writer, actor):
        if not cancel_for_operator(writer, actor, find_submission(writer, public_id), now=services().clock()):
            raise NotPossibleError("it has ended already")
    return _back(public_id)


def rejudge_one(public_id: str) -> Response:
    """Judges a submission again, by the present version of the challenge or the one that judged it."""
    reason, same = given_reason(), request.form.get("version") == "same"
    with acting("It is judged again. The earlier judgement is kept.") as (writer, actor):
        submission = find_submission(writer, public_id)
        rejudge(writer, actor, submission, reason, now=services().clock(), same_version=same)
    services().ring_builders()
    return _back(public_id)


def off_board(public_id: str) -> Response:
    """Takes a submission off its board."""
    reason = given_reason()
    with acting("It is off its board.") as (writer, actor):
        take_off_board(writer, actor, find_submission(writer, public_id), reason, now=services().clock())
    return _back(public_id)


def on_board(public_id: str) -> Response:
    """Puts a submission back on its board."""
    with acting("It is on its board again.") as (writer, actor):
        put_on_board(writer, actor, find_submission(writer, public_id), now=services().clock())
    return _back(public_id)


def rejudge_challenge(slug: str) -> Response:
    """Judges submissions again that another version of the challenge judged, or all: up to BATCH, the newest first."""
    digest, reason = find_pack(slug).digest, given_reason()
    before = read_moment(request.form.get("before", "")) if request.form.get("which") == "all" else None
    with acting() as (writer, actor):
        count, more = rejudge_many(
            writer, actor, slug, reason, digest=digest, judged_before=before, limit=BATCH, now=services().clock()
        )
    services().ring_builders()
    if count:
        flash(f"Judging {count} of them again.", "success")
    if more:
        flash(f"There are more than {BATCH}: press again for the next.", "info")
        return redirect(url_for("admin.challenges", before=before and before.isoformat()), 303)
    if not count:
        flash("There is nothing to judge again.", "info")
    return redirect(url_for("admin.queue"), 303)


def read_moment(text: str) -> datetime:
    """Returns the moment that a form or an address names; now for none, and for one that is yet to come."""
    now = services().clock()
    try:
        return min(datetime.fromisoformat(text).astimezone(UTC), now)
    except (ValueError, OverflowError):
        return now


def find_submission(session: Session, public_id: str) -> Submission:
    """Returns the submission. Raises Problem 404."""
    submission = get_submission(session, public_id)
    if submission is None:
        raise Problem(404, "not_found", "There is no such submission.")
    return submission


def _back(public_id: str) -> Response:
    return redirect(url_for("submissions.show", public_id=public_id), 303)
