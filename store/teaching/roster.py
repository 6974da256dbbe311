"""Stores a class's roster: whom the teacher's list names, their section, and their number in the school's system.

A person is an address. Whoever has confirmed it is made a member when a list first names it, or when they confirm it
later: until then the entry is an invitation. Who left the class or was removed stays out, whatever later lists say.
The caller commits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from store.models import Class, RosterEntry, User
from store.people.email_addresses import address_key
from store.teaching import classes

#: The most addresses named in one query.
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Person:
    """A row of a list; ``email`` is unique in it, ignoring case. None keeps what is known.

    ``lms_id`` is the person's id at the learning platform that the list comes from.
    """

    name: str
    email: str
    sis_id: str | None
    section: str | None
    lms_id: str | None = None


@dataclass(frozen=True, slots=True)
class RosterChange:
    """The changes by a list: how many entries are new, how many others differ, who joined, and who is off the list."""

    new: int
    changed: int
    joined: int
    left: int


def list_roster(session: Session, group: Class) -> Sequence[RosterEntry]:
    """Returns the entries by name."""
    found = session.scalars(select(RosterEntry).where(RosterEntry.class_id == group.id))
    return sorted(found, key=lambda each: (each.name.casefold(), each.email_key))


def entries_by_user(session: Session, group: Class) -> Mapping[int, RosterEntry]:
    """Returns the entries that belong to accounts."""
    # Of two addresses of one account, that which the list still names comes last and stays.
    found = sorted(list_roster(session, group), key=lambda each: each.left_at is None)
    return {each.user_id: each for each in found if each.user_id is not None}


def section_of(entries: Mapping[int, RosterEntry], user_id: int) -> str:
    """Returns the section of a member, empty where no list says one."""
    return entries[user_id].section if user_id in entries else ""


def apply_list(session: Session, group: Class, people: Sequence[Person], *, now: datetime) -> RosterChange:
    """Makes the class's roster that of a list. Entries that it does not name are kept as left."""
    known = {each.email_key: each for each in list_roster(session, group)}
    listed = {address_key(person.email): person for person in people}
    users = _users(session, list(listed))
    new = changed = joined = 0
    for key, person in listed.items():
        entry = known.get(key)
        values = _values(person, entry)
        if entry is None:
            new += 1
            entry = RosterEntry(class_id=group.id, email_key=key, lms_id="", user_id=None, left_at=None)
            session.add(entry)
        elif entry.left_at is not None or values != _kept(entry):
            changed += 1
        entry.name, entry.email, entry.sis_id, entry.section, entry.lms_id = values
        entry.left_at = None
        if entry.user_id is None and key in users:
            joined += _claim(session, group, entry, users[key], now=now)
        elif entry.user_id is not None and classes.is_member(session, group, user_id=entry.user_id):
            classes.join(session, group, user_id=entry.user_id, known_as=person.name, now=now)
    gone = [entry for key, entry in known.items() if key not in listed and entry.left_at is None]
    for entry in gone:
        entry.left_at = now
    session.flush()
    return RosterChange(new, changed, joined, len(gone))


def claim_invitations(session: Session, user: User, *, now: datetime) -> int:
    """Makes a user a member of the classes whose lists name their confirmed address; returns of how many."""
    invited = (
        select(RosterEntry, Class)
        .join(Class, Class.id == RosterEntry.class_id)
        .where(RosterEntry.email_key == user.email_key, RosterEntry.user_id.is_(None), RosterEntry.left_at.is_(None))
    )
    found = [] if user.email_key is None else session.execute(invited).all()
    return sum(_claim(session, group, entry, user.id, now=now) for entry, group in found)


def find_launched(session: Session, group: Class, *, lms_id: str, sis_id: str, email: str) -> RosterEntry | None:
    """Returns the entry of somebody whom the class's learning platform vouches for, or None.

    The platform's own id decides, then the number in the school's system, then the address. An entry with another id
    of the platform is another person's, whatever address somebody has there now.
    """
    entries = [each for each in list_roster(session, group) if each.left_at is None and each.lms_id in ("", lms_id)]
    for name, value in (("lms_id", lms_id), ("sis_id", sis_id), ("email_key", address_key(email))):
        found = [each for each in entries if value and getattr(each, name) == value]
        if len(found) == 1:
            return found[0]
    return None


def claim_launched(
    session: Session, group: Class, entry: RosterEntry, user_id: int, *, lms_id: str, now: datetime
) -> None:
    """Gives an entry that nobody has the account that came by the learning platform."""
    if entry.user_id in (None, user_id):
        entry.lms_id = lms_id
        _claim(session, group, entry, user_id, now=now)


def _values(person: Person, entry: RosterEntry | None) -> tuple[str, str, str, str, str]:
    """Returns an entry's new values: those of the person, or else the known ones."""
    sis_id, section, lms_id = ("", "", "") if entry is None else (entry.sis_id, entry.section, entry.lms_id)
    return (
        person.name,
        person.email,
        sis_id if person.sis_id is None else person.sis_id,
        section if person.section is None else person.section,
        lms_id if person.lms_id is None else person.lms_id,
    )


def _kept(entry: RosterEntry) -> tuple[str, str, str, str, str]:
    return entry.name, entry.email, entry.sis_id, entry.section, entry.lms_id


def _claim(session: Session, group: Class, entry: RosterEntry, user_id: int, *, now: datetime) -> int:
    """Gives an entry its account, which joins the class by the list's name; returns 1, or 0 if it was a member."""
    entry.user_id = user_id
    session.flush()
    member = classes.is_member(session, group, user_id=user_id)
    classes.join(session, group, user_id=user_id, known_as=entry.name, now=now)
    return int(not member)


def _users(session: Session, keys: Sequence[str]) -> dict[str, int]:
    """Returns who confirmed which address."""
    found: dict[str, int] = {}
    for start in range(0, len(keys), _BATCH):
        rows = select(User.email_key, User.id).where(User.email_key.in_(keys[start : start + _BATCH]), User.is_active)
        found.update((row[0], row[1]) for row in session.execute(rows) if row[0] is not None)
    return found
