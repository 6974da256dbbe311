"""The grade matrix: for each member and challenge the tries, the last verdict, the best time and the points.

A page of two hundred members and a dozen assignments takes as many queries as one of two members.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import quote

from flask import Blueprint, render_template, request, url_for
from markupsafe import escape

from judge.verdict import Verdict
from store.models import Assignment, Class, ClassMember, RosterEntry
from store.teaching import classes
from store.teaching.grades import Gradebook, messages
from store.teaching.points import Attempt
from store.teaching.rights import Right
from store.teaching.roster import entries_by_user, section_of
from web.accounts.visitor import login_required
from web.challenges.shown import shown_packs
from web.classes.access import (
    NUMBER,
    Pending,
    find_assignment,
    gradebook,
    member_seen,
    members_seen,
    pending,
    taught_class,
)
from web.classes.assignments import PATH
from web.classes.cells import Cell, Column, Row, Shown
from web.classes.faults import Fault, common_faults, shortened, without_numbers
from web.classes.grading import chosen_challenge
from web.formatting import verdict_title
from web.problems import Problem
from web.services import reader, services

#: The number of equal last tries that make a cell stuck.
ALIKE = 3


WORDS = {Shown.ALL: "All", Shown.STUCK: "Stuck", Shown.NOT_BEGUN: "Not begun", Shown.LATE: "Late"}


@dataclass(frozen=True, slots=True)
class Matrix:
    """The matrix, and by filter how many of its cells it lets through. ``sections`` are those of the members.

    ``faults`` are those that members have in common, where the stuck cells are asked for.
    """

    assignments: Sequence[Assignment]
    columns: Sequence[Column]
    rows: Sequence[Row]
    counted: Mapping[Shown, int]
    sections: Sequence[str]
    pending: Pending
    faults: Sequence[Fault]


def register(blueprint: Blueprint) -> None:
    """Adds the routes."""
    blueprint.add_url_rule(f"/{NUMBER}/matrix", view_func=grade_matrix)
    blueprint.add_url_rule(f"{PATH}/attempts/<username>", view_func=attempts)


@login_required
def grade_matrix(number: int) -> str:
    """Renders the matrix, or those of its rows that have a cell of ``?show=``."""
    group = taught_class(number, Right.SEE_WORK)
    try:
        shown = Shown(request.args.get("show", Shown.ALL))
    except ValueError:
        raise Problem(404, "not_found", "There is no such filter.") from None
    section = request.args.get("section", "")
    found = read_matrix(group, shown, section)
    return render_template(
        "classes/matrix.html",
        group=group,
        assignments=found.assignments,
        columns=found.columns,
        rows=found.rows,
        shown=shown,
        words=WORDS,
        counted=found.counted,
        alike=ALIKE,
        sections=found.sections,
        section=section,
        pending=found.pending,
        faults=found.faults,
    )


def read_matrix(group: Class, shown: Shown, section: str) -> Matrix:
    """Returns the matrix of the members whom the visitor sees, of all or one section, or its rows with a cell shown."""
    now, found = services().clock(), classes.list_assignments(reader(), group)
    columns = _columns(group, found, now)
    book = gradebook(group, found)
    roster = entries_by_user(reader(), group)
    members = members_seen(group)
    sections = sorted({each.section for each in roster.values() if each.section})
    if section:
        members = [each for each in members if section_of(roster, each.user_id) == section]
    rows = _rows(group, members, roster, columns, book, now)
    faults = common_faults(reader(), columns, rows) if shown is Shown.STUCK else ()
    cells = [cell for row in rows for cell in row.cells if cell is not None]
    counted = {
        Shown.STUCK: sum([cell.stuck != "" for cell in cells]),
        Shown.NOT_BEGUN: sum([not cell.is_begun for cell in cells]),
        Shown.LATE: sum([cell.is_late for cell in cells]),
    }
    if shown is not Shown.ALL:
        picked = (
            replace(row, cells=[cell if cell is not None and cell.is_shown(shown) else None for cell in row.cells])
            for row in rows
        )
        rows = [row for row in picked if any(row.cells)]
    return Matrix(found, columns, rows, counted, sections, pending(book, [each.user_id for each in members]), faults)


@login_required
def attempts(number: int, assignment_id: int, username: str) -> str:
    """Renders the attempts of a member for ``?challenge=``, and which of them is graded."""
    group = taught_class(number, Right.SEE_WORK)
    found = find_assignment(group, assignment_id)
    member = member_seen(group, username)
    challenge = chosen_challenge(found, request.args.get("challenge"))
    book = gradebook(group, [found], user_id=member.user_id)
    return render_template(
        "classes/attempts.html",
        group=group,
        assignment=found,
        member=member,
        challenge=challenge,
        packs=shown_packs(),
        grade=book.grade(found, member.user_id, challenge),
        attempts=book.attempts(found, member.user_id, challenge),
    )


def _columns(group: Class, assignments: Sequence[Assignment], now: datetime) -> list[Column]:
    packs = shown_packs()
    return [
        Column(
            assignment,
            assignment.id,
            assignment.opens_at <= now,
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
    numbers, drops = list(dict.fromkeys(column.number for column in columns)), group.drops
    grid = []
    for member in members:
        user, user_id = quote(member.user.username), member.user_id
        grid.append([_cell(column, column.url.format(user), user_id, book) for column in columns])
    _mark_stuck(grid)
    rows = []
    for member, cells in zip(members, grid, strict=True):
        share = book.total_of(numbers, member.user_id, drops=drops, now=now).share
        rows.append(Row(member, section_of(roster, member.user_id), cells, share))
    return rows


def _cell(column: Column, url: str, user_id: int, book: Gradebook) -> Cell:
    attempts, grade = book.cell(column.number, user_id, column.challenge)
    return Cell(
        attempts,
        grade,
        url,
        is_begun=bool(attempts) or not column.is_open,
        is_late=bool(attempts) and attempts[-1].at >= grade.due_at and not grade.counts,
    )


def _mark_stuck(grid: Sequence[list[Cell]]) -> None:
    """Marks the cells whose last tries have one verdict and one message."""
    doubtful = [
        (cells, place, last)
        for cells in grid
        for place, cell in enumerate(cells)
        if len(cell.attempts) >= ALIKE and (last := _last_alike(cell))
    ]
    found = messages(reader(), list(dict.fromkeys(each.public_id for _, _, last in doubtful for each in last)))
    for cells, place, last in doubtful:
        said = [found.get(each.public_id, "") for each in last]
        if len({without_numbers(each) for each in said}) == 1:
            cells[place] = cells[place]._replace(stuck=shortened(said[-1] or verdict_title(last[-1].verdict or "")))


def _last_alike(cell: Cell) -> Sequence[Attempt]:
    """Returns the last tries if they have one verdict and it is not a success; else none."""
    if cell.grade.reached:
        return ()
    last = [each for each in cell.attempts if each.is_judged][-ALIKE:]
    alike = len(last) == ALIKE and len({each.verdict for each in last}) == 1
    return last if alike and last[0].verdict != Verdict.ACCEPTED else ()
