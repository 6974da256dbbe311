"""The outbox of messages to the addresses that contests' owners set: each is stored once, and sent until accepted.

What happens to a submission is stored in the transaction of its judgement; start, freeze and end by the sweeper, for a
day at most. ``workers.webhooks`` sends. The caller commits.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from judge.judgement import Judgement
from judge.verdict import Verdict
from store.models import Contest, Submission, WebhookMessage
from store.teaching.contests import contests_of
from store.upsert import upsert

#: A message is given up after so many attempts; the pause after the first doubles with each.
MOST_ATTEMPTS, FIRST_PAUSE = 8, timedelta(seconds=30)
#: What happened longer ago is not told any more.
_RECENT = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Message:
    """A message to be sent now."""

    id: int
    url: str
    secret: str
    event: str
    body: str


def record_accepted(session: Session, submission: Submission, judgement: Judgement, *, now: datetime) -> None:
    """Stores that a submission was accepted, for each contest that it counts in and that has an address."""
    if judgement.verdict is not Verdict.ACCEPTED:
        return
    for contest in contests_of(session, submission):
        measured = judgement.measurement
        told = {
            "submission": submission.public_id,
            "user": submission.user.username,
            "challenge": submission.challenge,
            "device": submission.device_key,
            "value": None if measured is None else measured.value,
            "metric": None if measured is None else measured.scale,
        }
        _store(session, contest, "accepted", now, now=now, subject=submission.public_id, **told)


def record_moments(session: Session, *, now: datetime) -> None:
    """Stores the starts, freezes and ends of the last day for contests that have an address."""
    recent = select(Contest).where(
        Contest.webhook_url.is_not(None), Contest.starts_at <= now, Contest.ends_at > now - _RECENT
    )
    for contest in session.scalars(recent).all():
        moments = {"started": contest.starts_at, "frozen": contest.frozen_at, "ended": contest.ends_at}
        for event, at in moments.items():
            if at is not None and now - _RECENT < at <= now:
                _store(session, contest, event, at, now=now)


def claim_messages(session: Session, *, now: datetime, limit: int) -> list[Message]:
    """Returns messages that are due, each counted as attempted: it is due again later unless it is finished."""
    due = (
        select(WebhookMessage)
        .where(WebhookMessage.due_at <= now)
        .order_by(WebhookMessage.due_at, WebhookMessage.id)
        .limit(limit)
        .with_for_update(skip_locked=True, of=WebhookMessage)
    )
    claimed = []
    for row in session.scalars(due).all():
        row.attempts += 1
        row.due_at = None if row.attempts >= MOST_ATTEMPTS else now + FIRST_PAUSE * 2 ** (row.attempts - 1)
        if row.contest.webhook_url is None or row.contest.webhook_secret is None:
            row.due_at, row.outcome = None, "the contest has no address any more"
        else:
            url, secret = row.contest.webhook_url, row.contest.webhook_secret
            claimed.append(Message(row.id, url, secret, row.event, row.body))
    return claimed


def finish_message(session: Session, message: Message, problem: str | None) -> None:
    """Records that a message was accepted or, with ``problem``, why it was not."""
    row = session.get(WebhookMessage, message.id)
    if row is None:
        return
    row.outcome = "accepted" if problem is None else problem[:200]
    if problem is None:
        row.due_at = None


def latest_messages(session: Session, contest: Contest, *, limit: int = 10) -> Sequence[WebhookMessage]:
    """Returns the latest messages of a contest, the newest first."""
    own = select(WebhookMessage).where(WebhookMessage.contest_id == contest.id)
    return session.scalars(own.order_by(WebhookMessage.id.desc()).limit(limit)).all()


def _store(
    session: Session, contest: Contest, event: str, at: datetime, *, now: datetime, subject: str = "", **told: Any
) -> None:
    if contest.webhook_url is None:
        return
    body = {"event": event, "contest": contest.slug, "title": contest.title, "at": at.isoformat(), **told}
    values = {
        "contest_id": contest.id, "event": event, "subject": subject, "body": json.dumps(body), "created_at": now,
        "attempts": 0, "due_at": now, "outcome": "",
    }  # fmt: skip
    session.execute(upsert(session, WebhookMessage, values, ["contest_id", "event", "subject"], set()))
