"""API endpoints for operators: submissions, and the challenges that they are for."""

from __future__ import annotations

from flask import url_for

from judge.verify.ledger import efforts_on_record
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
from store.submissions import search_submissions
from web.admin.submissions import BATCH, find_submission
from web.api.admin import schemas
from web.api.admin.acting import TAG, acting
from web.api.auth import admin_token_required
from web.api.spec import next_page, operation
from web.challenges.shown import find_pack
from web.services import reader, services


@admin_token_required
@operation(schemas.OperatedSubmissionList, 422, tag=TAG)
def admin_list_submissions(query: schemas.OperatedSubmissionQuery) -> schemas.OperatedSubmissionList:
    """Lists the submissions of all users that fit the query, newest first."""
    user = find_user(reader(), query.user) if query.user else None
    if query.user and user is None:
        return schemas.OperatedSubmissionList(submissions=[], next=None)
    found = search_submissions(
        reader(),
        user_id=None if user is None else user.id,
        challenge=query.challenge,
        verdict=query.verdict,
        before=query.before,
        limit=query.limit + 1,
    )
    page = found[: query.limit]
    return schemas.OperatedSubmissionList(
        submissions=[_submission(one) for one in page],
        next=next_page(before=page[-1].public_id) if len(found) > len(page) else None,
    )


@admin_token_required
@operation(schemas.OperatedSubmission, 404, 409, tag=TAG)
def admin_cancel_submission(public_id: str) -> schemas.OperatedSubmission:
    """Cancels a submission that is not judged yet; one that runs ends when its worker next reports."""
    with acting() as (writer, actor):
        submission = find_submission(writer, public_id)
        if not cancel_for_operator(writer, actor, submission, now=services().clock()):
            raise NotPossibleError("it has ended already")
        writer.refresh(submission)
        return _submission(submission)


@admin_token_required
@operation(schemas.OperatedSubmission, 400, 404, 409, 413, 415, 422, tag=TAG)
def admin_rejudge_submission(public_id: str, json: schemas.RejudgeRequest) -> schemas.OperatedSubmission:
    """Judges a submission again. The earlier judgement is kept."""
    with acting() as (writer, actor):
        submission = find_submission(writer, public_id)
        rejudge(writer, actor, submission, json.reason, now=services().clock(), same_version=json.same_version)
        answer = _submission(submission)
    services().ring_builders()
    return answer


@admin_token_required
@operation(schemas.OperatedSubmission, 400, 404, 409, 413, 415, 422, tag=TAG)
def admin_take_off_board(public_id: str, json: schemas.Reason) -> schemas.OperatedSubmission:
    """Takes a submission off its board."""
    with acting() as (writer, actor):
        submission = find_submission(writer, public_id)
        take_off_board(writer, actor, submission, json.reason, now=services().clock())
        return _submission(submission)


@admin_token_required
@operation(schemas.OperatedSubmission, 404, tag=TAG)
def admin_put_on_board(public_id: str) -> schemas.OperatedSubmission:
    """Puts a submission back on its board."""
    with acting() as (writer, actor):
        submission = find_submission(writer, public_id)
        put_on_board(writer, actor, submission, now=services().clock())
        return _submission(submission)


@admin_token_required
@operation(schemas.ServedChallengeList, tag=TAG)
def admin_list_challenges() -> schemas.ServedChallengeList:
    """Lists the versions that are served, and what is wrong with challenges that did not load."""
    packs = services().all_packs
    verified = efforts_on_record(pack.directory for pack in packs.values())
    served = [
        schemas.ServedChallenge(
            slug=pack.slug, version=pack.version, digest=pack.digest, verified=verified.get(pack.directory)
        )
        for pack in packs.values()
    ]
    return schemas.ServedChallengeList(challenges=served, problems=[str(problem) for problem in packs.problems])


@admin_token_required
@operation(schemas.JudgedAgain, 400, 404, 409, 413, 415, 422, tag=TAG)
def admin_rejudge_challenge(slug: str, json: schemas.RejudgeManyRequest) -> schemas.JudgedAgain:
    """Judges submissions to a challenge again: at most 100, the newest first."""
    digest = find_pack(slug).digest
    with acting() as (writer, actor):
        count, more = rejudge_many(
            writer,
            actor,
            slug,
            json.reason,
            digest=digest,
            version=json.version,
            judged_before=json.judged_before,
            limit=BATCH,
            now=services().clock(),
        )
    services().ring_builders()
    return schemas.JudgedAgain(judged_again=count, more=more)


def _submission(submission: Submission) -> schemas.OperatedSubmission:
    return schemas.OperatedSubmission(
        id=submission.public_id,
        user=submission.user.username,
        challenge=submission.challenge,
        pack_version=submission.pack_version,
        device=submission.device_key,
        mode=submission.mode,
        state=submission.state,
        verdict=submission.verdict,
        off_board=submission.off_board,
        created_at=submission.created_at,
        finished_at=submission.finished_at,
        url=url_for("submissions.show", public_id=submission.public_id, _external=True),
    )
