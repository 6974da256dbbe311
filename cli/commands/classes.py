"""The commands ``class``: classes on a server, for their teachers and members."""

from __future__ import annotations

import sys
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

from cli import options
from cli.answers import items_of, read
from cli.class_arguments import Number, User
from cli.commands import assignments as assignments_of
from cli.commands import class_platform, class_staff, class_work, own_packs
from cli.connect import connect
from cli.console import print_answer, print_json, print_table, print_text, say
from cli.errors import UsageError
from cli.source import STDIN
from cli.teaching_answers import (
    ClassAssignment,
    ClassMember,
    ClassSummary,
    GradedMember,
    RosterChange,
    RosterEntry,
    ShownClass,
)

app = typer.Typer(help="Classes on a server: for their teachers and members.", no_args_is_help=True)
app.add_typer(assignments_of.app, name="assignment")
app.add_typer(class_staff.app, name="staff")
app.add_typer(class_platform.app, name="platform")
app.add_typer(own_packs.commands("classes"), name="pack")
class_work.register(app)

Title = Annotated[str, typer.Argument(metavar="TITLE", help="Of the new class.", show_default=False)]


class GradesForm(StrEnum):
    """The forms of a file of grades."""

    PLAIN = "plain"
    CANVAS = "canvas"
    MOODLE = "moodle"
    MOODLE_ID = "moodle-id"


@app.command("list")
def list_(server: options.Server = None, as_json: options.Json = False) -> None:
    """List the classes that you teach, and those that you are in."""
    with connect(server) as api:
        listed = items_of(api.get("classes"), "classes")
    if as_json:
        print_json({"classes": listed})
        return
    found = [read(ClassSummary, item) for item in listed]
    if not found:
        say("You are in no class. With a teacher's code: gpujudge class join CODE --as NAME")
        return
    print_table(
        ("class", "title", "you are", "members"),
        ((one.number, one.title, one.role, one.members) for one in found),
        right=("members",),
    )


@app.command()
def show(number: Number, server: options.Server = None, as_json: options.Json = False) -> None:
    """Print a class: who teaches it, its code or your total, and its assignments."""
    with connect(server) as api:
        answer = api.get(f"classes/{number}")
        assigned = items_of(api.get(f"classes/{number}/assignments"), "assignments")
    if as_json:
        print_json({**answer, "assignments": assigned})
        return
    found = read(ShownClass, answer)
    print_text(f"{found.title}\n")
    if found.teachers:
        print_text("Taught by " + ", ".join(_teacher(one.username, one.role, one.section) for one in found.teachers))
    if found.members is not None:
        print_text(f"{found.members} member{'' if found.members == 1 else 's'}")
    if found.code is not None:
        print_text(f"Code to join: {found.code}")
    if found.total is not None:
        print_text(f"Your total: {_percent(found.total)}")
    if found.description:
        print_text(f"\n{found.description.strip()}")
    print_text("")
    _print_assignments(assigned)


@app.command()
def members(number: Number, server: options.Server = None, as_json: options.Json = False) -> None:
    """List the members of a class that you teach."""
    with connect(server) as api:
        listed = items_of(api.get(f"classes/{number}/members"), "members")
    if as_json:
        print_json({"members": listed})
        return
    found = [read(ClassMember, item) for item in listed]
    print_table(
        ("name", "user", "section", "counted", "total", "joined"),
        (
            (one.known_as, one.username, one.section, one.counted, _percent(one.total), one.joined_at[:10])
            for one in found
        ),
        right=("counted", "total"),
    )


@app.command()
def assignments(number: Number, server: options.Server = None, as_json: options.Json = False) -> None:
    """List the assignments of a class, with your points where you are a member."""
    with connect(server) as api:
        listed = items_of(api.get(f"classes/{number}/assignments"), "assignments")
    if as_json:
        print_json({"assignments": listed})
        return
    _print_assignments(listed)


@app.command()
def grades(
    number: Number,
    assignment: Annotated[
        int | None,
        typer.Option("--assignment", "-a", metavar="ID", min=1, help="Of this one alone, as `class assignments` says."),
    ] = None,
    form: Annotated[
        GradesForm | None,
        typer.Option("--csv", help="Print CSV: our own, or in the form that Canvas or Moodle imports."),
    ] = None,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """Print the grades of a class that you teach, or your own in one that you are in."""
    if form is not None and as_json:
        raise UsageError("--csv and --json exclude each other")
    with connect(server) as api:
        if form is not None:
            content, headers = api.get_file(f"classes/{number}/grades.csv", form=form, assignment=assignment)
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
            class_work.say_waiting(int(headers.get("gpujudge-being-judged", "0")))
            return
        answer = api.get(f"classes/{number}/grades", assignment=assignment)
    if as_json:
        print_json(answer)
        return
    listed = items_of(answer, "grades")
    class_work.say_waiting(answer["waiting"], answer["judged_again"])
    found = [read(GradedMember, item) for item in listed]
    titles = [f"{one.title} ({one.of:g})" for one in found[0].assignments] if found else []
    print_table(
        ("name", "user", "section", *titles, "total"),
        (
            (
                one.known_as,
                one.username,
                one.section,
                *("..." if each.points is None else f"{each.points:.4g}" for each in one.assignments),
                _percent(one.total),
            )
            for one in found
        ),
        right=(*titles, "total"),
    )


@app.command()
def join(
    code: Annotated[str, typer.Argument(metavar="CODE", help="As your teacher gave it.", show_default=False)],
    known_as: Annotated[
        str, typer.Option("--as", metavar="NAME", help="Your name or number, as your teacher lists it.")
    ],
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """Join the class of a code. Its teachers see what you submit to its assignments."""
    with connect(server) as api:
        answer = api.post("classes/join", {"code": code, "known_as": known_as})
    found = read(ShownClass, answer)
    print_answer(answer, f"You are in class {found.number}, {found.title}.", as_json=as_json)


@app.command()
def create(
    title: Title,
    description: Annotated[
        Path | None,
        typer.Option("--description", metavar="FILE", help="Its description, in Markdown; - is stdin."),
    ] = None,
    drops: Annotated[
        int, typer.Option("--drops", min=0, max=50, help="How many of a member's lowest assignments count not.")
    ] = 0,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """Make a class. Only teachers of the site may."""
    body: dict[str, Any] = {"title": title, "drops": drops}
    if description is not None:
        body["description"] = read_text(description)
    _make(server, body, as_json=as_json)


@app.command()
def edit(
    number: Number,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Its title.")] = None,
    description: Annotated[
        Path | None,
        typer.Option("--description", metavar="FILE", help="Its description, in Markdown; - is stdin."),
    ] = None,
    drops: Annotated[
        int | None, typer.Option("--drops", min=0, max=50, help="How many of a member's lowest assignments count not.")
    ] = None,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """Change a class: what no option names stays."""
    body: dict[str, Any] = {"title": title, "drops": drops}
    if description is not None:
        body["description"] = read_text(description)
    body = {name: value for name, value in body.items() if value is not None}
    if not body:
        raise UsageError("say what to change", hint="Options: gpujudge class edit --help")
    with connect(server) as api:
        answer = api.patch(f"classes/{number}", body)
    _done(answer, f"Changed class {number}.", as_json=as_json)


@app.command()
def delete(
    number: Number,
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="Its title, to confirm.")],
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """Delete a class with its assignments and extensions. Submissions stay with their authors."""
    with connect(server) as api:
        answer = api.delete(f"classes/{number}", confirm_title=title)
    _done(answer, f"Deleted class {number}, {title}.", as_json=as_json)


@app.command("new-code")
def new_code(number: Number, server: options.Server = None, as_json: options.Json = False) -> None:
    """Give a class another code to join by: the old one opens nothing more."""
    with connect(server) as api:
        answer = api.post(f"classes/{number}/code")
    _done(answer, f"Members join class {number} by the code {answer['code']} from now on.", as_json=as_json)


@app.command()
def leave(number: Number, server: options.Server = None, as_json: options.Json = False) -> None:
    """Leave a class: its teachers no longer see your work. If you join again, it counts again."""
    with connect(server) as api:
        answer = api.post(f"classes/{number}/leave")
    _done(answer, f"You left class {number}.", as_json=as_json)


@app.command()
def remove(number: Number, user: User, server: options.Server = None, as_json: options.Json = False) -> None:
    """Take a member out of a class."""
    with connect(server) as api:
        answer = api.delete(f"classes/{number}/members/{quote(user, safe='')}")
    hint = f"Keep them from joining again: gpujudge class new-code {number}"
    _done(answer, f"{user} is no longer in class {number}. {hint}", as_json=as_json)


@app.command()
def copy(
    number: Number,
    title: Title,
    opens: Annotated[
        datetime,
        typer.Option(
            "--opens",
            formats=options.MOMENT_FORMATS,
            metavar="TIME",
            help="When its first assignment opens, as '2027-03-01 08:00', in UTC: the others move along.",
        ),
    ],
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """Copy a class's description and assignments for another term."""
    moment = options.in_utc(opens)
    assert moment is not None
    _make(server, {"title": title, "copy_of": number, "opens_at": moment.isoformat()}, as_json=as_json)


@app.command()
def roster(
    number: Number,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="CSV with the columns name, e-mail, SIS id and section, which becomes the roster; - is stdin.",
            show_default=False,
        ),
    ] = None,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """Print the roster of a class, or make it that of a file."""
    path = f"classes/{number}/roster"
    with connect(server) as api:
        if file is not None:
            answer = api.put(path, {"csv": read_text(file)})
            change = read(RosterChange, answer)
            say(
                f"{change.new} new, {change.changed} changed, {change.joined} joined the class, "
                f"{change.left} no longer on the list."
            )
            if as_json:
                print_json(answer)
            return
        listed = items_of(api.get(path), "entries")
    if as_json:
        print_json({"entries": listed})
        return
    found = [read(RosterEntry, item) for item in listed]
    print_table(
        ("name", "e-mail", "SIS id", "section", "user", "state"),
        ((one.name, one.email, one.sis_id, one.section, one.username, _state(one)) for one in found),
    )


def read_text(path: Path) -> str:
    """Returns the text of a file, or of stdin for ``-``. Raises UsageError for what cannot be read as UTF-8."""
    try:
        data = sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"line {line} of {path} is not UTF-8", hint="Save the file as UTF-8.") from None


def _done(answer: Any, said: str, *, as_json: bool) -> None:
    print_answer(answer, said, as_json=as_json)


def _make(server: str | None, body: dict[str, Any], *, as_json: bool) -> None:
    with connect(server) as api:
        answer = api.post("classes", body)
    found = read(ShownClass, answer)
    print_answer(
        answer, f"Made class {found.number}, {found.title}. Members join by the code {found.code}.", as_json=as_json
    )


def _print_assignments(listed: list[dict[str, Any]]) -> None:
    found = [read(ClassAssignment, item) for item in listed]
    if not found:
        say("It has no assignment yet.")
        return
    print_table(
        ("id", "assignment", "challenges", "due, in UTC", "asks for", "points", "counts"),
        (
            (
                one.id,
                one.title,
                " ".join(one.challenges),
                one.due_at[:16].replace("T", " "),
                one.counts,
                f"{one.points:g}" if one.own_points is None else f"{one.own_points:.4g} of {one.points:g}",
                "" if one.own_counted is None else f"{one.own_counted} of {len(one.challenges)}",
            )
            for one in found
        ),
        right=("points",),
    )


def _teacher(username: str, role: str, section: str) -> str:
    return f"{username} ({role}{f', section {section}' if section else ''})"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"


def _state(entry: RosterEntry) -> str:
    if entry.left_at is not None:
        return "off the list"
    return "member" if entry.member else "invited" if entry.username is None else "left"
