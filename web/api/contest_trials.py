"""API endpoints for the dry run of a contest, for those who manage it."""

from __future__ import annotations

from flask import Blueprint

from store.teaching.contests import latest_runs
from web.api import contest_schemas as schemas
from web.api.auth import api_visitor, submit_token_required, token_required
from web.api.contests import TAG
from web.api.spec import operation
from web.contests.access import managed_contest
from web.contests.trial import send_runs
from web.rate_limits import limit_submissions
from web.services import reader


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the API's blueprint."""
    blueprint.add_url_rule("/contests/<slug>/trial", view_func=get_contest_trial, methods=["GET"])
    blueprint.add_url_rule("/contests/<slug>/trial", view_func=start_contest_trial, methods=["POST"])


@token_required
@operation(schemas.Trial, 404, tag=TAG)
def get_contest_trial(slug: str) -> schemas.Trial:
    """Returns the latest run of the token's owner for each challenge and device of a contest that they manage."""
    contest = managed_contest(slug)
    runs = latest_runs(reader(), contest, user_id=api_visitor().id)
    asked = [(challenge, device) for challenge in contest.slugs for device in contest.device_keys]
    return schemas.Trial(
        runs=[
            schemas.TrialRun(
                challenge=challenge,
                device=device,
                submission=None if run is None else run.public_id,
                state=None if run is None else run.state,
                verdict=None if run is None else run.verdict,
                created_at=None if run is None else run.created_at,
            )
            for challenge, device in asked
            for run in [runs.get((challenge, device))]
        ]
    )


@submit_token_required
@operation(schemas.StartedTrial, 404, 429, status=202, tag=TAG)
@limit_submissions
def start_contest_trial(slug: str) -> tuple[schemas.StartedTrial, int]:
    """Has a kernel judged for each challenge on each device. Runs count nowhere, and nobody else sees them."""
    outcome = send_runs(managed_contest(slug))
    refused = [schemas.RefusedRuns(first=where, message=message) for message, where in outcome.refused.items()]
    return schemas.StartedTrial(sent=outcome.sent, refused=refused), 202
