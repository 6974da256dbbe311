"""Commands ``class`` for the members' work: the matrix, attempts, and sources that are alike."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated
from urllib.parse import quote

import typer

from cli import options
from cli.answers import read
from cli.class_arguments import Assignment, Number, User
from cli.class_work_answers import Attempts, Matrix, MatrixCell, Similarity
from cli.connect import connect
from cli.console import print_json, print_table, print_text, say
from cli.scores import format_score

Challenge = Annotated[
    str | None, typer.Option("--challenge", "-c", metavar="SLUG", help="A challenge of it; else the first.")
]


class Filter(StrEnum):
    """The cells of the matrix that may be asked for alone."""

    STUCK = "stuck"
    NOT_BEGUN = "not-begun"
    LATE = "late"


def register(app: typer.Typer) -> None:
    """Adds the commands to ``class``."""
    app.command()(matrix)
    app.command()(attempts)
    app.command()(similar)


def matrix(
    number: Number,
    show: Annotated[Filter | None, typer.Option("--show", help="Only rows with such a cell, and such cells.")] = None,
    section: Annotated[str, typer.Option("--section", metavar="NAME", help="Only members of this section.")] = "",
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """Print the work of all members: points, last verdict, tries and best time for each challenge."""
    with connect(server) as api:
        answer = api.get(f"classes/{number}/matrix", show=show, section=section or None)
    if as_json:
        print_json(answer)
        return
    found = read(Matrix, answer)
    say_waiting(found.waiting, found.judged_again)
    if found.faults:
        print_table(
            ("common fault of", "verdict", "message", "lines", "members"),
            (
                (one.challenge, one.verdict, one.message, ", ".join(map(str, one.lines[:5])), ", ".join(one.usernames))
                for one in found.faults
            ),
        )
        print_text("")
    if not found.rows:
        say("There is no such cell." if show else "Nobody has joined yet.")
        return
    print_table(
        ("name", "user", "section", "total", *(f"{one.assignment}: {one.challenge}" for one in found.columns)),
        (
            (
                row.known_as,
                row.username,
                row.section,
                "" if row.total is None else f"{100 * row.total:.1f} %",
                *("" if cell is None else _cell(cell, stuck=show is Filter.STUCK) for cell in row.cells),
            )
            for row in found.rows
        ),
        right=("total",),
    )
    counts = found.filters
    say(f"{counts.stuck} stuck, {counts.not_begun} not begun, {counts.late} late. Rows of them: --show stuck")


def attempts(
    number: Number,
    assignment: Assignment,
    user: User,
    challenge: Challenge = None,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """List a member's attempts for a challenge, the latest first, and which of them is graded."""
    path = f"classes/{number}/assignments/{assignment}/attempts/{quote(user, safe='')}"
    with connect(server) as api:
        answer = api.get(path, challenge=challenge)
    if as_json:
        print_json(answer)
        return
    found = read(Attempts, answer)
    points = "being judged" if found.points is None else f"{found.points:.4g} of {found.of:g} points"
    say(f"{found.known_as} ({found.username}), {found.challenge}: {points}, due {_moment(found.due_at)} UTC.")
    print_table(
        ("submission", "sent, in UTC", "verdict", "time", "graded"),
        (
            (
                one.submission,
                f"{_moment(one.at)}{' late' if one.late else ''}",
                one.verdict or "being judged",
                "" if one.value is None else format_score(one.value),
                "graded" if one.graded else "",
            )
            for one in found.attempts
        ),
        right=("time",),
    )


def similar(
    number: Number,
    assignment: Assignment,
    challenge: Challenge = None,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """List members whose graded sources share passages. Short kernels are alike without copying: read both."""
    with connect(server) as api:
        answer = api.get(f"classes/{number}/assignments/{assignment}/similarity", challenge=challenge)
    if as_json:
        print_json(answer)
        return
    found = read(Similarity, answer)
    if found.compared < 2:
        say(f"For {found.challenge}, fewer than two members have a graded source.")
        return
    if not found.pairs:
        say(f"No two of the {found.compared} sources for {found.challenge} share passages.")
        return
    print_table(
        ("alike", "who", "submission", "and who", "submission", "passages"),
        (
            (
                f"{100 * one.share:.0f} %",
                one.left.known_as,
                one.left.submission,
                one.right.known_as,
                one.right.submission,
                one.passages,
            )
            for one in found.pairs
        ),
        right=("alike", "passages"),
    )
    if found.left_out:
        say(f"{found.left_out} pairs that are less alike are left out.")


def say_waiting(waiting: int, judged_again: int = 0) -> None:
    """Says on stderr how many submissions are being judged, if any are: their points are left out."""
    if waiting:
        again = f", {judged_again} of them again" if judged_again else ""
        are = "submission is" if waiting == 1 else "submissions are"
        say(f"{waiting} {are} being judged{again}: grades that may change are left out until then.")


def _cell(cell: MatrixCell, *, stuck: bool) -> str:
    if not cell.tries:
        return "-" if cell.begun else "not begun"
    if stuck:
        return cell.stuck
    points = "..." if cell.points is None else f"{cell.points:.4g}"
    time = "" if cell.time_s is None else f" {format_score(cell.time_s)}"
    marks = f"{' late' if cell.late else ''}{' stuck' if cell.stuck else ''}"
    return f"{points} {cell.verdict or '...'} {cell.tries}x{time}{marks}"


def _moment(text: str) -> str:
    return text[:16].replace("T", " ")
