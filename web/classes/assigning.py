"""Makes, changes, deletes and extends assignments, for the pages and for the API."""

from __future__ import annotations

from typing import Any

from store.models import Assignment, Class, Counts
from store.teaching import classes
from store.teaching.roster import entries_by_user, section_of
from web.challenges.shown import packs_of
from web.classes.access import members_seen, record
from web.classes.forms import AssignmentForm, ExtensionForm
from web.devices import device_choices
from web.formatting import as_utc
from web.services import reader, services, transaction

#: Of an assignment and of its form, by the same names.
_SAME = (
    *("title", "opens_at", "due_at", "counts", "shows_hints", "closes_solutions", "points", "weight"),
    *("accepted_percent", "late_percent", "taken"),
)


def values_of(found: Assignment | None) -> dict[str, Any]:
    """Returns the values of the form of an assignment, or for None of a new one."""
    if found is None:
        return {
            **{"opens_at": services().clock().replace(second=0, microsecond=0)},
            **{"shows_hints": True, "closes_solutions": True, "points": 100.0, "weight": 1.0},
            **{"accepted_percent": 50, "late_percent": 100},
        }
    is_plain = found.counts == Counts.PLAIN
    return {
        **{name: getattr(found, name) for name in _SAME},
        "least_percent": None if is_plain else found.least_percent or None,
        "times": found.least_percent / 100 if is_plain else None,
        "challenges": " ".join(found.slugs),
        "device": found.device_key or "",
    }


def assignment_form(group: Class, found: Assignment | None, **given: Any) -> AssignmentForm:
    """Returns the form of an assignment of a class, or for None of a new one."""
    devices = {device.key: device.name for device in device_choices(reader(), services().settings, services().clock)}
    if found is not None and found.device_key is not None:
        devices.setdefault(found.device_key, found.device_key)
    return AssignmentForm(packs_of(group), list(devices.items()), earliest=group.created_at, **given)


def save_assignment(form: AssignmentForm, group: Class, found: Assignment | None) -> int:
    """Makes or changes an assignment by a form that was found valid; returns its id."""
    number, known = group.id, None if found is None else found.id
    with transaction() as writer:
        if known is None:
            row = Assignment(class_id=number, created_at=services().clock())
        else:
            row = writer.get_one(Assignment, known)
        form.apply(row)
        classes.set_challenges(row, form.slugs)
        writer.add(row)
        writer.flush()
        action = "assignment made" if known is None else "assignment changed"
        record(writer, writer.get_one(Class, number), action, assignment=row.title)
        return row.id


def remove_assignment(found: Assignment) -> None:
    """Deletes an assignment and its extensions. The submissions stay."""
    number = found.id
    with transaction() as writer:
        row = writer.get_one(Assignment, number)
        record(writer, writer.get_one(Class, row.class_id), "assignment deleted", assignment=row.title)
        writer.delete(row)


def extension_form(group: Class, **given: Any) -> ExtensionForm:
    """Returns the form that gives members of a class another deadline."""
    sections = {each.section for each in entries_by_user(reader(), group).values() if each.section}
    known = {each.user.username_key for each in members_seen(group)}
    return ExtensionForm(sorted(sections), known, **given)


def extend_members(form: ExtensionForm, group: Class, found: Assignment) -> list[str]:
    """Gives all whom a form that was found valid names another deadline; returns their user names."""
    members, roster, number = members_seen(group), entries_by_user(reader(), group), found.id
    chosen = [
        (each.user_id, each.user.username)
        for each in members
        if each.user.username_key in form.names
        or (form.section.data and section_of(roster, each.user_id) == form.section.data)
    ]
    due_at = None if form.due_at.data is None else as_utc(form.due_at.data)
    with transaction() as writer:
        row, of = writer.get_one(Assignment, number), writer.get_one(Class, group.id)
        for user_id, who in chosen:
            classes.set_extension(writer, row, user_id=user_id, due_at=due_at)
            what = {"user": who, "assignment": row.title, "due_at": due_at.isoformat() if due_at else "as all"}
            record(writer, of, "assignment extended", **what)
    return [who for _, who in chosen]
