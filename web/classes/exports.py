"""The grades of a class as CSV in the forms that Canvas and Moodle import.

Both leave a grade as it is where a cell is empty. So is the cell of whoever has an attempt that is not judged yet, as
while submissions are judged again, and of an assignment that is not open yet.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from flask import Blueprint, Response, request

from store.models import Assignment
from store.teaching import classes
from store.teaching.grades import Gradebook
from store.teaching.rights import Right
from store.teaching.roster import entries_by_user
from web.accounts.visitor import login_required
from web.classes.access import NUMBER, gradebook, members_seen, pending, taught_class
from web.classes.csv_files import csv_file
from web.formatting import points
from web.problems import Problem
from web.services import reader, services

#: Canvas takes a number in parentheses at the end of a column's name for the id of an assignment of its own.
_ID = re.compile(r"\((\d+)\)\s*$")


def register(blueprint: Blueprint) -> None:
    """Adds the routes."""
    blueprint.add_url_rule(f"/{NUMBER}/grades/canvas.csv", view_func=login_required(canvas_grades))
    blueprint.add_url_rule(f"/{NUMBER}/grades/moodle.csv", view_func=moodle_grades)


def canvas_grades(number: int) -> Response:
    """Returns a row a member, beneath one of the points possible. Canvas finds members by SIS id, else by address."""
    group, now = taught_class(number, Right.SEE_WORK), services().clock()
    found = classes.list_assignments(reader(), group)
    book, roster = gradebook(group, found), entries_by_user(reader(), group)
    rows: list[list[object]] = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *_titles(found)],
        ["    Points Possible", "", "", "", "", *(points(each.points) for each in found)],
    ]
    members = members_seen(group)
    for member in members:
        entry = roster.get(member.user_id)
        keys = ["", "", ""] if entry is None else [entry.sis_id, entry.email, entry.section]
        rows.append([member.known_as, "", *keys, *_cells(found, book, member.user_id, now)])
    return csv_file(rows, f"class-{number}-canvas.csv", pending(book, [each.user_id for each in members]))


@login_required
def moodle_grades(number: int) -> Response:
    """Returns a row a member with the address, or the ID number for ``?by=id``; who has none is left out."""
    by = request.args.get("by", "email")
    if by not in ("email", "id"):
        raise Problem(404, "not_found", "Moodle finds members by email or id.")
    return moodle_file(number, by=by)


def moodle_file(number: int, *, by: str) -> Response:
    """Returns the file in Moodle's form, whose first column is the address or, for ``id``, the ID number."""
    group, now = taught_class(number, Right.SEE_WORK), services().clock()
    found = classes.list_assignments(reader(), group)
    book, roster = gradebook(group, found), entries_by_user(reader(), group)
    rows: list[list[object]] = [["Email address" if by == "email" else "ID number", "Full name", *_titles(found)]]
    members = members_seen(group)
    for member in members:
        entry = roster.get(member.user_id)
        # A row whose person Moodle does not find stops the whole import.
        key = "" if entry is None else entry.email if by == "email" else entry.sis_id
        if key:
            rows.append([key, member.known_as, *_cells(found, book, member.user_id, now)])
    return csv_file(rows, f"class-{number}-moodle.csv", pending(book, [each.user_id for each in members]))


def _titles(assignments: Sequence[Assignment]) -> list[str]:
    """Returns the titles, each once and none with an id at its end."""
    plain = [_ID.sub(r"[\1]", each.title) for each in assignments]
    often = Counter(plain)
    return [title if often[title] == 1 else f"{title} [{place}]" for place, title in enumerate(plain, start=1)]


def _cells(assignments: Sequence[Assignment], book: Gradebook, user_id: int, now: datetime) -> list[str]:
    return [
        "" if each.opens_at > now or book.is_waiting(each, user_id) else points(book.points(each, user_id))
        for each in assignments
    ]
