"""API endpoints for what teachers see of their members' work: the matrix, attempts, and sources that are alike."""

from __future__ import annotations

from flask import Blueprint

from store.teaching.rights import Right
from web.api import class_work_schemas as schemas
from web.api.assignments import ONE
from web.api.auth import token_required
from web.api.classes import TAG
from web.api.spec import operation
from web.classes.access import NUMBER, find_assignment, gradebook, member_seen, taught_class
from web.classes.cells import Cell, Shown
from web.classes.grading import Alike, chosen_challenge, compare_sources
from web.classes.matrix import read_matrix


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the API's blueprint."""
    for rule, view in (
        (f"/classes/{NUMBER}/matrix", get_class_matrix),
        (f"{ONE}/attempts/<username>", list_attempts),
        (f"{ONE}/similarity", list_similar_submissions),
    ):
        blueprint.add_url_rule(rule, view_func=view, methods=["GET"])


@token_required
@operation(schemas.Matrix, 404, 422, tag=TAG)
def get_class_matrix(number: int, query: schemas.MatrixQuery) -> schemas.Matrix:
    """Returns the work of all members whom the token's owner sees, or of those with a cell of ``show``."""
    found = read_matrix(taught_class(number, Right.SEE_WORK), query.show, query.section)
    return schemas.Matrix(
        waiting=found.pending.waiting,
        judged_again=found.pending.again,
        faults=[
            schemas.MatrixFault(
                assignment=each.column.number,
                challenge=each.column.challenge,
                verdict=each.verdict,
                message=each.text,
                lines=list(each.lines),
                usernames=[member.user.username for member, _ in each.members],
            )
            for each in found.faults
        ],
        columns=[
            schemas.MatrixColumn(assignment=each.number, title=each.assignment.title, challenge=each.challenge)
            for each in found.columns
        ],
        filters=schemas.MatrixCounts(
            stuck=found.counted[Shown.STUCK],
            not_begun=found.counted[Shown.NOT_BEGUN],
            late=found.counted[Shown.LATE],
        ),
        rows=[
            schemas.MatrixRow(
                username=row.member.user.username,
                known_as=row.member.known_as,
                section=row.section,
                total=row.share,
                cells=[None if cell is None else _cell(cell) for cell in row.cells],
            )
            for row in found.rows
        ],
    )


@token_required
@operation(schemas.MemberAttempts, 404, 422, tag=TAG)
def list_attempts(
    number: int, assignment_id: int, username: str, query: schemas.ChallengeChoice
) -> schemas.MemberAttempts:
    """Returns a member's attempts for a challenge of an assignment, and which of them is graded."""
    group = taught_class(number, Right.SEE_WORK)
    found, member = find_assignment(group, assignment_id), member_seen(group, username)
    challenge = chosen_challenge(found, query.challenge)
    book = gradebook(group, [found], user_id=member.user_id)
    grade = book.grade(found, member.user_id, challenge)
    graded = None if grade.attempt is None else grade.attempt.public_id
    return schemas.MemberAttempts(
        username=member.user.username,
        known_as=member.known_as,
        challenge=challenge,
        due_at=grade.due_at,
        points=None if grade.waiting else grade.points,
        of=grade.of,
        attempts=[
            schemas.MemberAttempt(
                submission=each.public_id,
                at=each.at,
                verdict=each.verdict,
                value=each.value,
                reached=each.reached,
                late=each.at >= grade.due_at,
                graded=each.public_id == graded,
            )
            for each in reversed(book.attempts(found, member.user_id, challenge))
        ],
    )


@token_required
@operation(schemas.Similarity, 404, 422, tag=TAG)
def list_similar_submissions(number: int, assignment_id: int, query: schemas.ChallengeChoice) -> schemas.Similarity:
    """Returns which of the sources that the grades of a challenge name share passages, the most alike first."""
    group = taught_class(number, Right.SEE_WORK)
    found = find_assignment(group, assignment_id)
    challenge = chosen_challenge(found, query.challenge)
    alike = compare_sources(group, found, challenge)
    return schemas.Similarity(
        challenge=challenge,
        compared=alike.compared,
        pairs=[
            schemas.SimilarPair(
                left=_author(alike, each.left),
                right=_author(alike, each.right),
                share=each.share,
                passages=each.shared,
            )
            for each in alike.pairs
        ],
        left_out=alike.left_out,
    )


def _cell(cell: Cell) -> schemas.MatrixCell:
    return schemas.MatrixCell(
        tries=len(cell.attempts),
        verdict=cell.attempts[-1].verdict if cell.attempts else None,
        time_s=cell.time_s,
        points=None if cell.grade.waiting else cell.grade.points,
        begun=cell.is_begun,
        late=cell.is_late,
        stuck=cell.stuck,
    )


def _author(alike: Alike, public_id: str) -> schemas.SourceAuthor:
    member = alike.authors[public_id]
    return schemas.SourceAuthor(username=member.user.username, known_as=member.known_as, submission=public_id)
