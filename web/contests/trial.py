"""The dry run of a contest, for its page and the API.

The organizer has a kernel judged for each challenge on each device, before it starts.

The kernels are runs on the public cases: they have no place on boards, count in no contest, and nobody else sees them.
The page shows the organizer's latest runs, whoever began them: those sent by hand from the editor count, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flask import Blueprint, flash, redirect, render_template, url_for
from werkzeug.wrappers import Response

from judge.languages.registry import DEFAULT_LANGUAGE
from judge.packs.pack import Pack
from judge.packs.steps import read_steps
from store.models import Contest
from store.teaching.contests import latest_runs
from web.accounts.visitor import login_required, require_visitor
from web.challenges.shown import shown_packs
from web.contests.access import managed_contest
from web.problems import Problem
from web.rate_limits import limit_submissions
from web.services import reader, services
from web.solutions.reading import find_access
from web.submissions.accepting import accept_submission


def register(blueprint: Blueprint) -> None:
    """Adds the routes."""
    blueprint.add_url_rule("/<slug>/trial", view_func=trial)
    blueprint.add_url_rule("/<slug>/trial", "try_all", try_all, methods=["POST"])


@login_required
def trial(slug: str) -> str:
    """Renders the organizer's latest run for each challenge and device."""
    contest = managed_contest(slug)
    runs = latest_runs(reader(), contest, user_id=require_visitor().id)
    return render_template("contests/trial.html", contest=contest, runs=runs, packs=shown_packs())


@login_required
@limit_submissions
def try_all(slug: str) -> Response:
    """Sends a run for each challenge and device. Messages name those that the site refuses; the others go on."""
    outcome = send_runs(managed_contest(slug))
    if outcome.sent:
        flash(f"{outcome.sent} run{' is' if outcome.sent == 1 else 's are'} on the way.", "success")
    for message, where in list(outcome.refused.items())[:5]:
        flash(f"{where}: {message}", "error")
    return redirect(url_for("contests.trial", slug=slug), 303)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many runs were sent, and by reason the first that was refused."""

    sent: int
    refused: Mapping[str, str]


def send_runs(contest: Contest) -> Outcome:
    """Sends a run of the organizer for each challenge and device of the contest."""
    visitor = require_visitor()
    challenges, devices = contest.slugs, contest.device_keys
    sent, refused = 0, dict[str, str]()
    for challenge in challenges:
        for device in devices:
            try:
                source, language = _kernel(challenge)
                accept_submission(
                    services(),
                    user_id=visitor.id,
                    challenge=challenge,
                    device=device,
                    mode="run",
                    source=source,
                    language=language,
                )
                sent += 1
            except Problem as problem:
                refused.setdefault(problem.message, f"{challenge} on {device}")
    return Outcome(sent, refused)


def _kernel(challenge: str) -> tuple[str, str | None]:
    """Returns our first kernel for a challenge if the visitor may read it, else its starter, and the language."""
    pack: Pack | None = shown_packs().get(challenge)
    if pack is None:
        raise Problem(404, "unknown_challenge", "This site has no such challenge any more.")
    may_read = find_access(reader(), pack, require_visitor()).is_open
    steps = read_steps(pack) if may_read and DEFAULT_LANGUAGE in pack.languages else ()
    return (steps[0].source, DEFAULT_LANGUAGE) if steps else (pack.starter(), None)
