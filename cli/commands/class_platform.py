"""The commands ``class platform``: the learning platform that a class is connected to, for its teachers."""

from __future__ import annotations

from typing import Any

import typer

from cli import options
from cli.answers import read
from cli.class_arguments import Number
from cli.connect import connect
from cli.console import print_answer, print_json, print_table, say
from cli.teaching_answers import ConnectedCourse

app = typer.Typer(help="The learning platform of a class.", no_args_is_help=True)


@app.command()
def show(number: Number, server: options.Server = None, as_json: options.Json = False) -> None:
    """Print the course that a class is connected to, and the outcome of the last exchange."""
    with connect(server) as api:
        _print(api.get(f"classes/{number}/platform"), as_json=as_json)


@app.command()
def exchange(number: Number, server: options.Server = None, as_json: options.Json = False) -> None:
    """Have the members read and points sent within seconds."""
    with connect(server) as api:
        answer = api.post(f"classes/{number}/platform/exchange")
    print_answer(
        answer,
        f"Members are read and points are sent within seconds: gpujudge class platform show {number}",
        as_json=as_json,
    )


@app.command()
def disconnect(number: Number, server: options.Server = None, as_json: options.Json = False) -> None:
    """End the connection of a class to its course. Members and points that were sent stay."""
    with connect(server) as api:
        answer = api.delete(f"classes/{number}/platform")
    print_answer(answer, f"Class {number} is connected to no course. It can be connected again there.", as_json=as_json)


def _print(answer: Any, *, as_json: bool) -> None:
    if as_json:
        print_json(answer)
        return
    found = read(ConnectedCourse, answer)
    when = "not read yet" if found.roster_read_at is None else f"read at {_moment(found.roster_read_at)} UTC"
    failed = f", {found.roster_attempts} failed since" if found.roster_attempts else ""
    say(f"{found.course} of {found.platform}. Members: {when}{failed}. {found.roster_outcome}")
    print_table(
        ("id", "assignment", "points", "failed", "next, in UTC"),
        (
            (
                one.assignment,
                one.title,
                one.outcome or "not sent yet",
                one.attempts,
                "ended" if one.due_at is None else _moment(one.due_at),
            )
            for one in found.links
        ),
        right=("failed",),
    )


def _moment(text: str) -> str:
    return text[:16].replace("T", " ")
