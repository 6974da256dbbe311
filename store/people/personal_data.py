"""Exports all that is stored of a user, and closes accounts.

A closed account keeps its rows, so that boards stay as they were: without a name, a source or a way to log in.
"""

from __future__ import annotations

import dataclasses
import json
import zipfile
from datetime import datetime
from typing import IO, Any

from sqlalchemy import delete, or_, select, update
from sqlalchemy.orm import Session, undefer

from judge.judgement_json import to_json
from judge.languages.registry import BUILTIN_LANGUAGES
from store.boards.rechecks import find_recheck
from store.models import (
    ApiToken,
    AssemblyRequest,
    Class,
    ClassMember,
    ClassStaff,
    Draft,
    DraftAssembly,
    EarlierJudgement,
    Event,
    GivenUp,
    Identity,
    Job,
    LineComment,
    LtiLaunch,
    LtiScore,
    OneTimeLink,
    ProfileRequest,
    RecoveryCode,
    RosterEntry,
    SolutionLike,
    State,
    Submission,
    User,
    WebSession,
)
from store.people.names import DELETED_PREFIX
from store.submissions import cancel_submission

#: Submissions are read and changed so many at a time: a judgement may have megabytes.
_BATCH = 100
#: What is exported of a comment.
_COMMENT = (LineComment.line, LineComment.text, LineComment.created_at, LineComment.changed_at)


def write_export(session: Session, *, user: User, file: IO[bytes]) -> None:
    """Writes a ZIP archive: ``account.json``, ``submissions.json``, and the sources of submissions and drafts."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("account.json", _json(_account(session, user)))
        with archive.open("submissions.json", "w") as results:
            results.write(b"[")
            for number, submission in enumerate(_submissions(session, user.id)):
                results.write((b",\n" if number else b"\n") + _json(_submission(session, submission)).encode())
            results.write(b"\n]\n")
        for submission in _submissions(session, user.id):
            suffix = BUILTIN_LANGUAGES.of(submission.language).suffixes[0]
            name = f"sources/{submission.challenge}/{submission.public_id}{suffix}"
            archive.writestr(name, submission.source_bytes)
        mine = select(Draft).where(Draft.user_id == user.id).options(undefer(Draft.source_bytes))
        for draft in session.scalars(mine.order_by(Draft.challenge, Draft.version)):
            suffix = BUILTIN_LANGUAGES.of(draft.language).suffixes[0]
            archive.writestr(f"drafts/{draft.challenge}/{draft.version}{suffix}", draft.source_bytes)


def close_account(session: Session, *, user: User, now: datetime) -> None:
    """Deletes personal data, cancels unfinished work, and makes the user's rows anonymous. Cannot be undone."""
    mine = select(Submission.id).where(Submission.user_id == user.id)
    waiting = select(Submission).where(
        Submission.user_id == user.id, Submission.state.not_in([State.DONE, State.CANCELLED])
    )
    for submission in session.scalars(waiting).all():
        cancel_submission(session, submission, now=now)
    # The compiler's messages quote the source.
    for submission in _submissions(session, user.id):
        submission.source_bytes, submission.idempotency_key = b"", None
        submission.custom_input = submission.share_token = submission.published_at = submission.recheck_key = None
        if submission.judgement is not None:
            build = dataclasses.replace(submission.judgement.build, log="")
            submission.judgement = dataclasses.replace(submission.judgement, build=build)
        session.flush()
        session.expunge(submission)
    session.execute(delete(EarlierJudgement).where(EarlierJudgement.submission_id.in_(mine)))
    session.execute(delete(AssemblyRequest).where(AssemblyRequest.submission_id.in_(mine)))
    session.execute(delete(ProfileRequest).where(ProfileRequest.submission_id.in_(mine)))
    session.execute(delete(Event).where(Event.submission_id.in_(mine)))
    # What others wrote about the source, and what the user wrote about others'.
    session.execute(
        delete(LineComment).where(or_(LineComment.submission_id.in_(mine), LineComment.author_id == user.id))
    )
    session.execute(update(Job).where(Job.submission_id.in_(mine)).values(build_report=None, last_error=None))
    personal = (
        Draft, DraftAssembly, ApiToken, WebSession, OneTimeLink, RecoveryCode, Identity, ClassMember, GivenUp,
        SolutionLike, RosterEntry, ClassStaff, LtiLaunch, LtiScore,
    )  # fmt: skip
    for table in personal:
        session.execute(delete(table).where(table.user_id == user.id))
    user.username = user.username_key = f"{DELETED_PREFIX}{user.id}"
    user.name_skeleton = user.password_hash = user.email = user.email_key = user.totp_secret = None
    user.is_active = False
    session.flush()


def _submissions(session: Session, user_id: int) -> Any:
    mine = select(Submission).where(Submission.user_id == user_id).options(undefer(Submission.source_bytes))
    return session.scalars(mine.order_by(Submission.id).execution_options(yield_per=_BATCH))


def _account(session: Session, user: User) -> dict[str, Any]:
    tokens = session.scalars(select(ApiToken).where(ApiToken.user_id == user.id))
    sessions = session.scalars(select(WebSession).where(WebSession.user_id == user.id))
    identities = session.scalars(select(Identity).where(Identity.user_id == user.id))
    rosters = session.execute(
        select(Class.title, RosterEntry.name, RosterEntry.email, RosterEntry.sis_id, RosterEntry.section)
        .join(RosterEntry, RosterEntry.class_id == Class.id)
        .where(RosterEntry.user_id == user.id)
    )
    classes = session.execute(
        select(Class.title, ClassMember.known_as, ClassMember.joined_at)
        .join(ClassMember, ClassMember.class_id == Class.id)
        .where(ClassMember.user_id == user.id)
    )
    taught = session.execute(
        select(Class.title, ClassStaff.role, ClassStaff.section)
        .join(ClassStaff, ClassStaff.class_id == Class.id)
        .where(ClassStaff.user_id == user.id)
    )
    given_up = session.scalars(select(GivenUp).where(GivenUp.user_id == user.id).order_by(GivenUp.challenge))
    likes = session.execute(
        select(Submission.public_id.label("submission"), Submission.challenge, SolutionLike.created_at)
        .join(Submission, Submission.id == SolutionLike.submission_id)
        .where(SolutionLike.user_id == user.id)
        .order_by(SolutionLike.created_at)
    )
    comments = session.execute(
        select(Submission.public_id.label("submission"), *_COMMENT)
        .join(Submission, Submission.id == LineComment.submission_id)
        .where(LineComment.author_id == user.id)
        .order_by(LineComment.id)
    )
    return {
        "username": user.username,
        "email": user.email,
        "created_at": user.created_at,
        "second_factor": user.totp_secret is not None,
        "tokens": [_row(one, "name", "scopes", "created_at", "expires_at", "last_used_at") for one in tokens],
        "sessions": [_row(one, "address", "user_agent", "created_at", "last_seen_at") for one in sessions],
        "identities": [_row(one, "issuer", "subject", "name", "created_at") for one in identities],
        "classes": [_row(one, "title", "known_as", "joined_at") for one in classes],
        "teaches": [_row(one, "title", "role", "section") for one in taught],
        "rosters": [_row(one, "title", "name", "email", "sis_id", "section") for one in rosters],
        "given_up": [_row(one, "challenge", "given_up_at") for one in given_up],
        "likes": [_row(one, "submission", "challenge", "created_at") for one in likes],
        "comments": [_row(one, "submission", "line", "text", "created_at", "changed_at") for one in comments],
    }


def _submission(session: Session, submission: Submission) -> dict[str, Any]:
    columns = (
        "challenge",
        "pack_version",
        "device_key",
        "mode",
        "custom_input",
        "state",
        "verdict",
        "created_at",
        "finished_at",
        "published_at",
        "after_giving_up",
    )
    judgement = None if submission.judgement is None else to_json(submission.judgement)
    check = find_recheck(session, submission)
    found = None if check is None or check.result is None else to_json(check.result)
    comments = session.execute(
        select(User.username.label("by"), *_COMMENT)
        .join(User, User.id == LineComment.author_id)
        .where(LineComment.submission_id == submission.id)
        .order_by(LineComment.line, LineComment.id)
    )
    return {
        "id": submission.public_id,
        **_row(submission, *columns),
        "judgement": judgement,
        "recheck": found,
        "comments": [_row(one, "by", "line", "text", "created_at", "changed_at") for one in comments],
    }


def _row(row: object, *columns: str) -> dict[str, Any]:
    return {name: getattr(row, name) for name in columns}


def _json(value: Any) -> str:
    return json.dumps(value, default=lambda one: one.isoformat(), indent=1)
