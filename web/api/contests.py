"""API endpoints for contests. Everybody may read them, as the pages; with a token, one sees what its owner may see."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, url_for

from store.boards.standings import ListedScore, listed_scores
from store.models import Contest, Submission
from store.teaching import contests
from store.teaching.contest_sources import counted_submissions
from store.teaching.contest_standings import Row
from web.accounts.visitor import current_visitor
from web.api import contest_schemas as schemas
from web.api.auth import submit_token_required, token_required, token_welcome
from web.api.spec import next_page, operation
from web.challenges.shown import is_hidden
from web.contests import saving
from web.contests.access import find_contest, managed_contest, may_manage, require_maker, shown_slugs, standings_seen
from web.contests.saving import (
    TakenError,
    contest_form,
    save_contest,
    take_part,
    values_of,
    values_of_copy,
)
from web.form_fields import filled_in, refuse_invalid
from web.problems import Problem, sentence
from web.services import reader, services

TAG = "contests"
_BODY = (400, 404, 409, 413, 415, 422)


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the API's blueprint."""
    for method, rule, view in (
        ("GET", "", list_contests),
        ("POST", "", create_contest),
        ("GET", "/<slug>", get_contest),
        ("PATCH", "/<slug>", update_contest),
        ("DELETE", "/<slug>", delete_contest),
        ("GET", "/<slug>/standings", get_standings),
        ("GET", "/<slug>/submissions", list_contest_submissions),
        ("POST", "/<slug>/join", join_contest),
        ("POST", "/<slug>/leave", leave_contest),
    ):
        blueprint.add_url_rule(f"/contests{rule}", view_func=view, methods=[method])


@token_welcome
@operation(schemas.ContestList, 401, 403, token=False, tag=TAG)
def list_contests() -> schemas.ContestList:
    """Lists the contests, those that end last first."""
    return schemas.ContestList(contests=[_summary(each) for each in contests.list_contests(reader())])


@token_welcome
@operation(schemas.ShownContest, 401, 403, 404, token=False, tag=TAG)
def get_contest(slug: str) -> schemas.ShownContest:
    """Returns a contest."""
    return _shown(find_contest(slug))


@submit_token_required
@operation(schemas.ShownContest, *_BODY, status=201, tag=TAG)
def create_contest(json: schemas.NewContest) -> tuple[schemas.ShownContest, int]:
    """Makes a contest of the token's owner, who is a teacher."""
    require_maker()
    begun: dict[str, Any] = {"scoring": "points", "closes_solutions": True}
    if json.copy_of is not None:
        begun = values_of_copy(managed_contest(json.copy_of))
    return _saved(json.model_dump(exclude_none=True, exclude={"copy_of"}), None, begun), 201


@submit_token_required
@operation(schemas.ShownContest, *_BODY, tag=TAG)
def update_contest(slug: str, json: schemas.ContestChange) -> schemas.ShownContest:
    """Changes a contest, also while it runs: results are counted anew by what it says then."""
    contest = managed_contest(slug)
    return _saved(json.model_dump(exclude_unset=True), contest, values_of(contest))


@submit_token_required
@operation(schemas.ContestSummary, 404, 409, tag=TAG)
def delete_contest(slug: str) -> schemas.ContestSummary:
    """Deletes a contest in which nobody takes part."""
    contest = managed_contest(slug)
    summary = _summary(contest)
    saving.delete_contest(contest)
    return summary


@token_welcome
@operation(schemas.Standings, 401, 403, 404, 422, token=False, tag=TAG)
def get_standings(slug: str, query: schemas.StandingsQuery) -> schemas.Standings:
    """Returns the standings: while they are frozen, others' results are those from before."""
    contest = find_contest(slug)
    rows, offset = standings_seen(contest), (query.page - 1) * query.limit
    pages = max(1, -(-len(rows) // query.limit))
    return schemas.Standings(
        contest=contest.slug,
        scoring=contest.scoring,
        frozen=contests.is_frozen(contest, services().clock()),
        settled_at=contest.settled_at,
        entrants=len(rows),
        page=query.page,
        pages=pages,
        next=next_page(page=query.page + 1) if query.page < pages else None,
        standings=[_row(contest, row) for row in rows[offset : offset + query.limit]],
    )


@token_required
@operation(schemas.CountedList, 404, 422, tag=TAG)
def list_contest_submissions(slug: str, query: schemas.CountedQuery) -> schemas.CountedList:
    """Lists the members' submissions that count, the newest first, also frozen ones: for who manages the contest."""
    found = counted_submissions(
        reader(), managed_contest(slug), username=query.user, challenge=query.challenge, verdict=query.verdict,
        before=query.before, limit=query.limit + 1,
    )  # fmt: skip
    page = found[: query.limit]
    scores = listed_scores(reader(), page)
    return schemas.CountedList(
        submissions=[_counted(each, scores.get(each.id)) for each in page],
        next=next_page(before=page[-1].public_id) if len(found) > len(page) else None,
    )


@submit_token_required
@operation(schemas.ShownContest, *_BODY, tag=TAG)
def join_contest(slug: str, json: schemas.Entry) -> schemas.ShownContest:
    """Makes the token's owner take part, with the code and in a team where the contest asks for them."""
    try:
        take_part(find_contest(slug), contests.Entry(json.code, json.team_name, json.team_code))
    except contests.EntryError as error:
        message = sentence(str(error))
        raise Problem(422, "invalid", message, fields={error.field: message}) from None
    return _shown(find_contest(slug))


@submit_token_required
@operation(schemas.ShownContest, 404, 409, tag=TAG)
def leave_contest(slug: str) -> schemas.ShownContest:
    """Takes the token's owner out of a contest that has not ended; the submissions stay."""
    saving.leave_contest(find_contest(slug))
    return _shown(find_contest(slug))


def _saved(given: dict[str, Any], contest: Contest | None, begun: dict[str, Any]) -> schemas.ShownContest:
    """Saves a contest with ``given``, the request's values by their names, and otherwise the values of ``begun``."""
    if "challenges" in given:
        given["challenges"] = " ".join(given["challenges"] or ())
    if "targets" in given:
        given["targets"] = " ".join(given["targets"] or ())
    values = {**begun, **given}
    form = contest_form(contest, formdata=filled_in(values), meta={"csrf": False})
    refuse_invalid(form)
    try:
        return _shown(find_contest(save_contest(form, contest)))
    except TakenError:
        message = "Another contest has this address."
        raise Problem(409, "taken", message, fields={"slug": message}) from None


def _summary(contest: Contest) -> schemas.ContestSummary:
    now = services().clock()
    return schemas.ContestSummary(
        contest=contest.slug,
        title=contest.title,
        state="coming" if now < contest.starts_at else "running" if now < contest.ends_at else "ended",
        starts_at=contest.starts_at,
        ends_at=contest.ends_at,
    )


def _shown(contest: Contest) -> schemas.ShownContest:
    visitor = current_visitor()
    team = contests.team_of(reader(), contest, user_id=None if visitor is None else visitor.id)
    return schemas.ShownContest(
        **dict(_summary(contest)),
        description=contest.description,
        challenges=shown_slugs(contest),
        devices=list(contest.device_keys),
        scoring=contest.scoring,
        targets_s={slug: target for slug, target in contest.targets.items() if not is_hidden(slug)},
        frozen_at=contest.frozen_at,
        frozen=contests.is_frozen(contest, services().clock()),
        team_size=contest.team_size,
        needs_code=contest.code is not None,
        opens_sources=contest.opens_sources,
        closes_solutions=contest.closes_solutions,
        hides_challenges=contest.hides_challenges,
        members=contests.count_members(reader(), contest),
        takes_part=visitor is not None and contests.is_member(reader(), contest, user_id=visitor.id),
        team=None if team is None else team.name,
        settings=schemas.ContestSettings(
            code=contest.code,
            webhook_url=contest.webhook_url,
            webhook_secret=contest.webhook_secret,
            revealed=contest.revealed,
        )
        if may_manage(visitor, contest)
        else None,
    )


def _counted(submission: Submission, score: ListedScore | None) -> schemas.CountedSubmission:
    return schemas.CountedSubmission(
        id=submission.public_id,
        username=submission.user.username,
        challenge=submission.challenge,
        device=submission.device_key,
        state=submission.state,
        verdict=submission.verdict,
        value=None if score is None else score.value,
        frozen=submission.frozen,
        created_at=submission.created_at,
        url=url_for("submissions.show", public_id=submission.public_id, _external=True),
    )


def _row(contest: Contest, row: Row) -> schemas.StandingsRow:
    return schemas.StandingsRow(
        rank=row.rank,
        name=row.username,
        total=row.total,
        tries=dict(zip(shown_slugs(contest), row.tries, strict=True)),
        results={
            slug: schemas.StandingsResult(
                value=cell.result.value, metric=cell.result.scale, place=cell.place, audited=cell.result.audited
            )
            for slug, cell in zip(shown_slugs(contest), row.cells, strict=True)
            if cell is not None
        },
    )
