"""Makes, changes and deletes contests, and their members, for the pages and for the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import request
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from store.models import Contest
from store.operation.operator_log import Actor, record_action
from store.teaching import contests
from store.teaching.contest_audits import unsettle_contests
from store.teaching.freezes import lock_freezes, renew_frozen
from store.teaching.private_packs import Owner
from store.teaching.visibility import already_known
from web.accounts.visitor import require_visitor
from web.challenges.shown import packs_of
from web.contests.forms import ContestForm, written_targets
from web.devices import device_choices
from web.problems import Problem
from web.services import reader, services, transaction

#: Of a contest and of its form, by the same names.
_SAME = (
    *("title", "slug", "description", "starts_at", "ends_at", "frozen_at", "scoring", "team_size", "code"),
    *("webhook_url", "revealed", "opens_sources", "closes_solutions", "hides_challenges"),
)
#: What a copy has of its own.
_OWN = ("slug", "starts_at", "ends_at", "frozen_at", "revealed")


class TakenError(Exception):
    """Raised for the address of another contest."""


def values_of(contest: Contest) -> dict[str, Any]:
    """Returns the values of the form of a contest."""
    return {
        **{name: getattr(contest, name) for name in _SAME},
        "challenges": " ".join(contest.slugs),
        "devices": list(contest.device_keys),
        "targets": written_targets(contest.targets),
    }


def values_of_copy(contest: Contest) -> dict[str, Any]:
    """Returns the values of the form of a copy: all but the address, the times, and whether standings are revealed."""
    return {name: value for name, value in values_of(contest).items() if name not in _OWN}


def contest_form(contest: Contest | None, values: Mapping[str, Any] | None = None, **given: Any) -> ContestForm:
    """Returns the form of a contest, or for None of a new one, that shows ``values`` until it is sent."""
    devices = {device.key: device.name for device in device_choices(reader(), services().settings, services().clock)}
    if contest is not None:
        devices |= {key: devices.get(key, key) for key in contest.device_keys}
    if values is not None:
        given["data"] = values
    now, contest_id = services().clock(), None if contest is None else contest.id
    return ContestForm(
        packs_of(contest or Contest()).keys(),
        list(devices.items()),
        private_webhooks=services().settings.webhook_private,
        not_to_hide=lambda slugs: already_known(reader(), slugs, contest_id=contest_id, now=now),
        now=now,
        **given,
    )


def save_contest(form: ContestForm, contest: Contest | None) -> str:
    """Makes or changes a contest by a form that was found valid; returns its slug. Raises TakenError."""
    visitor, known = require_visitor(), None if contest is None else contest.id
    try:
        with transaction() as writer:
            now = services().clock()
            lock_freezes(writer)
            row = Contest(owner_id=visitor.id, created_at=now) if known is None else writer.get_one(Contest, known)
            form.apply(row)
            contests.set_challenges(row, form.slugs, form.target_times())
            writer.add(row)
            writer.flush()
            unsettle_contests(writer, [row])
            renew_frozen(writer, now=now)
            _record(writer, row, "contest made" if known is None else "contest changed")
            return row.slug
    except IntegrityError:
        named = contests.find_contest(reader(), form.slug.data or "")
        if named is None or named.id == known:
            raise
        raise TakenError from None


def delete_contest(contest: Contest) -> None:
    """Deletes a contest in which nobody takes part. Raises Problem 409 for another."""
    with transaction() as writer:
        lock_freezes(writer)
        row = writer.get_one(Contest, contest.id, with_for_update=True)
        members = contests.count_members(writer, row)
        if members:
            raise Problem(409, "not_empty", f"{members} take part in this contest. Only an empty one can be deleted.")
        _record(writer, row, "contest deleted")
        writer.delete(row)


def take_part(contest: Contest, entry: contests.Entry) -> None:
    """Makes the visitor a member. Raises EntryError, and Problem 409 after the end."""
    now = services().clock()
    if contest.ends_at <= now:
        raise Problem(409, "ended", "This contest has ended.")
    with transaction() as writer:
        contests.enter(writer, contest, entry, user_id=require_visitor().id, now=now)
        renew_frozen(writer, now=now)


def leave_contest(contest: Contest) -> None:
    """Takes the visitor out of a contest. Raises Problem 409 after the end."""
    now = services().clock()
    if contest.ends_at <= now:
        raise Problem(409, "ended", "This contest has ended: its standings stay.")
    with transaction() as writer:
        contests.leave(writer, contest, user_id=require_visitor().id)
        renew_frozen(writer, now=now)


def record_pack(writer: Session, owner: Owner, action: str, slug: str) -> None:
    """Records an action on a pack of a contest."""
    assert isinstance(owner, Contest)
    _record(writer, owner, action, challenge=slug)


def _record(writer: Session, contest: Contest, action: str, **details: str) -> None:
    visitor = require_visitor()
    actor = Actor(visitor.username, visitor.id, request.remote_addr or "")
    record_action(
        writer, actor, action, f"contest {contest.slug}", now=services().clock(), title=contest.title, **details
    )
