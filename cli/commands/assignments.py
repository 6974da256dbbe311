"""The commands ``class assignment``: assignments of a class on a server, for its teachers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import typer

from cli import options
from cli.answers import read
from cli.class_arguments import Assignment, Number
from cli.connect import connect
from cli.console import print_answer, print_json, say
from cli.errors import UsageError
from cli.teaching_answers import ClassAssignment, Extended

app = typer.Typer(
    help="Assignments of a class: for its teachers. `class assignments` lists them.", no_args_is_help=True
)

_TIME = "as '2027-03-01 18:00', in UTC"
Challenges = Annotated[
    list[str] | None,
    typer.Option("--challenge", "-c", metavar="SLUG", help="A challenge; again for the next, in their order."),
]
Opens = Annotated[
    datetime | None,
    typer.Option("--opens", formats=options.MOMENT_FORMATS, metavar="TIME", help=f"When it opens, {_TIME}."),
]
Due = Annotated[
    datetime | None,
    typer.Option("--due", formats=options.MOMENT_FORMATS, metavar="TIME", help=f"When it is due, {_TIME}."),
]
Device = Annotated[str | None, typer.Option("--device", "-d", metavar="NAME", help="The only device that counts.")]
Counts = Annotated[
    str | None,
    typer.Option(
        "--counts", metavar="NAME",
        help="The target: accepted, bronze, silver, gold, roofline, best, plain or goal.",
    ),
]  # fmt: skip
Least = Annotated[
    int | None, typer.Option("--least", min=1, max=100, help="For roofline and best: the share in percent.")
]
Times = Annotated[float | None, typer.Option("--times", min=0.1, max=10_000, help="For plain: how many times as fast.")]
Points = Annotated[float | None, typer.Option("--points", min=0.01, max=100_000, help="The points of all challenges.")]
Weight = Annotated[float | None, typer.Option("--weight", min=0, max=1000, help="Its weight in the total.")]
Accepted = Annotated[
    int | None,
    typer.Option("--accepted", min=0, max=100, help="The share of the points, in percent, without the target."),
]
Late = Annotated[int | None, typer.Option("--late", min=0, max=100, help="The percentage that a day late takes off.")]
TakenOption = Annotated[
    str | None, typer.Option("--taken", metavar="NAME", help="Which attempt is graded: best or latest.")
]
Hints = Annotated[
    bool | None, typer.Option("--hints/--no-hints", help="Whether statements show hints before it is due.")
]
Closes = Annotated[
    bool | None,
    typer.Option("--close-solutions/--leave-solutions", help="Whether the solutions are closed until it is due."),
]


@app.command()
def create(
    number: Number,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="Its title.", show_default=False)],
    challenge: Challenges = None, opens: Opens = None, due: Due = None, device: Device = None, counts: Counts = None,
    least: Least = None, times: Times = None, points: Points = None, weight: Weight = None, accepted: Accepted = None,
    late: Late = None, taken: TakenOption = None, hints: Hints = None, closes: Closes = None,
    server: options.Server = None, as_json: options.Json = False,
) -> None:  # fmt: skip
    """Give a class an assignment. It opens now where --opens says nothing."""
    body = _body(
        title=title, challenges=challenge, opens_at=opens, due_at=due, device=device, counts=counts,
        least_percent=least, times=times, points=points, weight=weight, accepted_percent=accepted, late_percent=late,
        taken=taken, shows_hints=hints, closes_solutions=closes,
    )  # fmt: skip
    with connect(server) as api:
        _saved(api.post(f"classes/{number}/assignments", body), "Made", as_json=as_json)


@app.command()
def edit(
    number: Number,
    assignment: Assignment,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Its title.")] = None,
    challenge: Challenges = None, opens: Opens = None, due: Due = None, device: Device = None,
    any_device: Annotated[bool, typer.Option("--any-device", help="Results on any device count.")] = False,
    counts: Counts = None, least: Least = None, times: Times = None, points: Points = None, weight: Weight = None,
    accepted: Accepted = None, late: Late = None, taken: TakenOption = None, hints: Hints = None,
    closes: Closes = None, server: options.Server = None, as_json: options.Json = False,
) -> None:  # fmt: skip
    """Change an assignment: all submissions are graded anew. All else stays."""
    body = _body(
        title=title, challenges=challenge, opens_at=opens, due_at=due, device=device, counts=counts,
        least_percent=least, times=times, points=points, weight=weight, accepted_percent=accepted, late_percent=late,
        taken=taken, shows_hints=hints, closes_solutions=closes,
    )  # fmt: skip
    if any_device:
        body["device"] = None
    if not body:
        raise UsageError("say what to change", hint="Options: gpujudge class assignment edit --help")
    with connect(server) as api:
        _saved(api.patch(_path(number, assignment), body), "Changed", as_json=as_json)


@app.command()
def delete(
    number: Number, assignment: Assignment, server: options.Server = None, as_json: options.Json = False
) -> None:
    """Delete an assignment and its extensions. The members' submissions stay."""
    with connect(server) as api:
        _saved(api.delete(_path(number, assignment)), "Deleted", as_json=as_json)


@app.command()
def extend(
    number: Number,
    assignment: Assignment,
    users: Annotated[
        list[str] | None, typer.Argument(metavar="[USER]...", help="Members, by user name.", show_default=False)
    ] = None,
    section: Annotated[str, typer.Option("--section", metavar="NAME", help="All members of this section.")] = "",
    due: Due = None,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """Give members another deadline; without --due, the assignment's again. All of them, or nobody."""
    if not users and not section:
        raise UsageError("say who: user names, or --section NAME")
    body = _body(usernames=users or [], section=section, due_at=due)
    with connect(server) as api:
        answer = api.post(f"{_path(number, assignment)}/extensions", body)
    if as_json:
        print_json(answer)
        return
    found = read(Extended, answer)
    until = "the deadline of all" if found.due_at is None else f"a deadline at {_moment(found.due_at)} UTC"
    whom = "nobody" if not found.usernames else ", ".join(found.usernames)
    say(f"{until[:1].upper()}{until[1:]} holds for {whom}.")


def _body(**given: Any) -> dict[str, Any]:
    """Returns the body of a request with the values that were given."""
    moments = {name: options.in_utc(value) for name, value in given.items() if isinstance(value, datetime)}
    body = {name: value for name, value in given.items() if value is not None}
    return body | {name: moment.isoformat() for name, moment in moments.items() if moment is not None}


def _saved(answer: Any, done: str, *, as_json: bool) -> None:
    found = read(ClassAssignment, answer)
    print_answer(
        answer, f"{done} assignment {found.id}, {found.title}, due {_moment(found.due_at)} UTC.", as_json=as_json
    )


def _path(number: int, assignment: int) -> str:
    return f"classes/{number}/assignments/{assignment}"


def _moment(text: str) -> str:
    return text[:16].replace("T", " ")
