"""The grade matrix: for each member and challenge the tries, the last verdict, the best time and the points.

A page of two hundred members and a dozen assignments takes as many queries as one of two members.
"""

from __future__ import annotations

import enum
import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple
from urllib.parse import quote

from flask import Blueprint, render_template, request, url_for
from markupsafe import Markup, escape

from judge.verdict import Verdict
from store.models import Assignment, Class, ClassMember, RosterEntry
from store.teaching import classes
from store.teaching.grades import Gradebook, messages
from store.teaching.points import Attempt, Grade
from store.teaching.rights import Right
from store.teaching.roster import entries_by_user, section_of
from web.accounts.visitor import login_required
from web.classes.access import NUMBER, find_assignment, gradebook, member_seen, members_seen, taught_class
from web.classes.assignments import PATH
from web.formatting import percent, points, seconds, verdict_title
from web.problems import Problem
from web.services import reader, services

#: The number of equal last tries that make a cell stuck.
ALIKE = 3
#: A message is the same with other numbers in it: inputs are drawn anew for each submission, and lines move.
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+(?:[.,]\d+)*(?:e[+-]?\d+)?")
_MOST_CHARACTERS = 160


class Shown(enum.StrEnum):
    """Which cells the page shows; its value is that of ``?show=``."""

    ALL = "all"
    STUCK = "stuck"
    NOT_BEGUN = "not-begun"
    LATE = "late"


WORDS = {Shown.ALL: "All", Shown.STUCK: "Stuck", Shown.NOT_BEGUN: "Not begun", Shown.LATE: "Late"}


@dataclass(frozen=True, slots=True)
class Column:
    """A challenge of an assignment. ``url`` is that of its attempts, with ``{}`` for the member, escaped."""

    assignment: Assignment
    challenge: str
    title: str
    url: str


class Cell(NamedTuple):
    """A member's work for a challenge. ``stuck`` is what its last tries have in common, empty if they do not.

    A tuple, because a class has thousands.
    """

    attempts: Sequence[Attempt]
    grade: Grade
    #: Of its attempts, escaped.
    url: str
    is_begun: bool
    is_late: bool
    stuck: str = ""

    @property
    def time(self) -> str:
        """The best time on the scale of the last one, or nothing."""
        timed = [each for each in self.attempts if each.accepted and each.value is not None]
        values = [each.value for each in timed if each.metric == timed[-1].metric and each.value is not None]
        return seconds(min(values)) if values else ""

    def is_shown(self, shown: Shown) -> bool:
        """Returns whether a filter lets the cell through."""
        match shown:
            case Shown.ALL:
                return True
            case Shown.STUCK:
                return bool(self.stuck)
            case Shown.NOT_BEGUN:
                return not self.is_begun
            case Shown.LATE:
                return self.is_late

    def html(self, shown: Shown) -> str:
        """Returns the cell's HTML: points, last verdict, tries and best time, leading to the attempts."""
        if not self.attempts:
            return f'<span class="muted">{"not begun" if shown is Shown.NOT_BEGUN else "–"}</span>'
        last, time = self.attempts[-1].verdict or "…", self.time
        stuck = self.stuck if shown is Shown.STUCK else "stuck"
        return (
            f'<a href="{self.url}"><b>{points(self.grade.points)}</b> '
            f'<span class="verdict {last}"><b>{last}</b></span> '
            f'<span class="small muted">{len(self.attempts)}×{f" {time}" if time else ""}'
            f"{' late' if self.is_late else ''}</span></a>"
            f'{f"""<div class="small stuck">{escape(stuck)}</div>""" if self.stuck else ""}'
        )


@dataclass(frozen=True, slots=True)
class Row:
    """A member and their cells, of which None are filtered out."""

    member: ClassMember
    section: str
    cells: Sequence[Cell | None]
    total: str

    def html(self, shown: Shown) -> Markup:
        """Returns the cells of the table. Written here: a template would take three times as long for thousands."""
        return Markup("".join(f"<td>{'' if each is None else each.html(shown)}</td>" for each in self.cells))


def register(blueprint: Blueprint) -> None:
    """Adds the routes."""
    blueprint.add_url_rule(f"/{NUMBER}/matrix", view_func=grade_matrix)
    blueprint.add_url_rule(f"{PATH}/attempts/<username>", view_func=attempts)


@login_required
def grade_matrix(number: int) -> str:
    """Renders the matrix, or those of its rows that have a cell of ``?show=``."""
    group, now = taught_class(number, Right.SEE_WORK), services().clock()
    try:
        shown = Shown(request.args.get("show", Shown.ALL))
    except ValueError:
        raise Problem(404, "not_found", "There is no such filter.") from None
    found = classes.list_assignments(reader(), group)
    columns = _columns(group, found)
    book = gradebook(group, found)
    roster = entries_by_user(reader(), group)
    members = members_seen(group)
    sections = sorted({each.section for each in roster.values() if each.section})
    section = request.args.get("section", "")
    if section:
        members = [each for each in members if section_of(roster, each.user_id) == section]
    rows = _rows(group, members, roster, columns, book, now)
    cells = [cell for row in rows for cell in row.cells if cell is not None]
    counted = {each: sum(cell.is_shown(each) for cell in cells) for each in Shown if each is not Shown.ALL}
    if shown is not Shown.ALL:
        picked = (
            replace(row, cells=[cell if cell is not None and cell.is_shown(shown) else None for cell in row.cells])
            for row in rows
        )
        rows = [row for row in picked if any(row.cells)]
    return render_template(
        "classes/matrix.html",
        group=group,
        assignments=found,
        columns=columns,
        rows=rows,
        shown=shown,
        words=WORDS,
        counted=counted,
        alike=ALIKE,
        sections=sections,
        section=section,
    )


@login_required
def attempts(number: int, assignment_id: int, username: str) -> str:
    """Renders the attempts of a member for ``?challenge=``, and which of them is graded."""
    group = taught_class(number, Right.SEE_WORK)
    found = find_assignment(group, assignment_id)
    challenge = request.args.get("challenge", next(iter(found.slugs), ""))
    member = member_seen(group, username)
    if challenge not in found.slugs:
        raise Problem(404, "not_found", "This assignment has no such challenge.")
    book = gradebook(group, [found], user_id=member.user_id)
    return render_template(
        "classes/attempts.html",
        group=group,
        assignment=found,
        member=member,
        challenge=challenge,
        packs=services().packs,
        grade=book.grade(found, member.user_id, challenge),
        attempts=book.attempts(found, member.user_id, challenge),
    )


def _columns(group: Class, assignments: Sequence[Assignment]) -> list[Column]:
    packs = services().packs
    return [
        Column(
            assignment,
            slug,
            packs[slug].title if slug in packs else slug,
            str(
                escape(
                    url_for("classes.assignment", number=group.id, assignment_id=assignment.id)
                    + f"/attempts/{{}}?challenge={slug}"
                )
            ),
        )
        for assignment in assignments
        for slug in assignment.slugs
    ]


def _rows(
    group: Class,
    members: Sequence[ClassMember],
    roster: Mapping[int, RosterEntry],
    columns: Sequence[Column],
    book: Gradebook,
    now: datetime,
) -> list[Row]:
    assignments = list(dict.fromkeys(column.assignment for column in columns))
    rows = []
    for member in members:
        user = quote(member.user.username)
        cells = [_cell(column, column.url.format(user), member.user_id, book, now) for column in columns]
        total = book.total(assignments, member.user_id, drops=group.drops, now=now).share
        rows.append(Row(member, section_of(roster, member.user_id), cells, "" if total is None else percent(total)))
    return _with_stuck(rows)


def _cell(column: Column, url: str, user_id: int, book: Gradebook, now: datetime) -> Cell:
    attempts = book.attempts(column.assignment, user_id, column.challenge)
    grade = book.grade(column.assignment, user_id, column.challenge)
    return Cell(
        attempts,
        grade,
        url,
        is_begun=bool(attempts) or column.assignment.opens_at > now,
        is_late=bool(attempts) and attempts[-1].at >= grade.due_at and not grade.counts,
    )


def _with_stuck(rows: list[Row]) -> list[Row]:
    """Marks the cells whose last tries have one verdict and one message."""
    doubtful = {cell.url: last for row in rows for cell in row.cells if cell and (last := _last_alike(cell))}
    named = dict.fromkeys(each.public_id for last in doubtful.values() for each in last)
    found = messages(reader(), list(named))
    return [replace(row, cells=[_marked(cell, doubtful, found) for cell in row.cells]) for row in rows]


def _last_alike(cell: Cell) -> Sequence[Attempt]:
    """Returns the last tries if they have one verdict and it is not a success; else none."""
    last = [each for each in cell.attempts if each.is_judged][-ALIKE:]
    alike = len(last) == ALIKE and len({each.verdict for each in last}) == 1
    return last if alike and last[0].verdict != Verdict.ACCEPTED and not cell.grade.reached else ()


@functools.lru_cache(maxsize=10_000)
def _without_numbers(message: str) -> str:
    return _NUMBER.sub("#", message)


def _marked(cell: Cell | None, doubtful: Mapping[str, Sequence[Attempt]], found: Mapping[str, str]) -> Cell | None:
    if cell is None or cell.url not in doubtful:
        return cell
    said = [found.get(each.public_id, "") for each in doubtful[cell.url]]
    if len({_without_numbers(each) for each in said}) > 1:
        return cell
    text = said[-1] or verdict_title(cell.attempts[-1].verdict or "")
    short = text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"
    return cell._replace(stuck=f"{short[:1].upper()}{short[1:]}")
