"""The page of all submissions that count in a contest, for who manages it: during the contest and afterwards."""

from __future__ import annotations

from flask import Blueprint, render_template, request

from judge.verdict import Verdict
from store.boards.standings import listed_scores
from store.teaching.contest_sources import counted_submissions
from web.accounts.visitor import login_required
from web.challenges.shown import shown_packs
from web.contests.access import managed_contest
from web.services import reader
from web.submissions.standing import present_score

PAGE = 50


def register(blueprint: Blueprint) -> None:
    """Adds the route."""
    blueprint.add_url_rule("/<slug>/submissions", view_func=submissions)


@login_required
def submissions(slug: str) -> str:
    """Renders the members' submissions that count and fit the filters, the newest first."""
    contest = managed_contest(slug)
    filters = {name: request.args.get(name, "").strip() for name in ("user", "challenge", "verdict")}
    found = counted_submissions(
        reader(),
        contest,
        username=filters["user"] or None,
        challenge=filters["challenge"] or None,
        verdict=filters["verdict"] or None,
        before=request.args.get("before"),
        limit=PAGE + 1,
    )
    return render_template(
        "contests/submissions.html",
        contest=contest,
        submissions=found[:PAGE],
        older=found[PAGE - 1].public_id if len(found) > PAGE else None,
        scores={key: present_score(score) for key, score in listed_scores(reader(), found[:PAGE]).items()},
        filters=filters,
        verdicts=list(Verdict),
        packs=shown_packs(),
    )
