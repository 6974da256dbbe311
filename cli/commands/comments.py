"""The commands ``comment``: comments at lines of a submission, by those who teach its user, and the user's answers."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

import typer

from cli import options
from cli.answers import items_of, read
from cli.connect import connect
from cli.console import print_answer, print_json, print_text, say
from cli.teaching_answers import LineComment

app = typer.Typer(help="Comments at lines of a submission: by who teaches its user, and answers.", no_args_is_help=True)

Submission = Annotated[str, typer.Argument(metavar="SUBMISSION", help="Its id.", show_default=False)]
Number = Annotated[
    int, typer.Argument(metavar="NUMBER", min=1, help="A comment, as `comment list` says.", show_default=False)
]
Text = Annotated[str, typer.Argument(metavar="TEXT", help="Its text.", show_default=False)]


@app.command("list")
def list_(submission: Submission, server: options.Server = None, as_json: options.Json = False) -> None:
    """Print the comments on a submission, by line."""
    with connect(server) as api:
        answer = api.get(_path(submission))
    if as_json:
        print_json(answer)
        return
    found = [read(LineComment, item) for item in items_of(answer, "comments")]
    if not found:
        say("There is no comment on it.")
    for one in found:
        state = f"{', changed' if one.changed_at else ''}{', new' if one.unread else ''}"
        when = one.created_at[:16].replace("T", " ")
        print_text(f"line {one.line}: {one.author}, {when} UTC, comment {one.number}{state}")
        print_text("\n".join(f"    {line}" for line in one.text.splitlines()))


@app.command()
def add(
    submission: Submission,
    line: Annotated[int, typer.Argument(metavar="LINE", min=1, help="From 1 on.", show_default=False)],
    text: Text,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """Comment on a line of a submission to an assignment of a class that you teach, or answer."""
    with connect(server) as api:
        _say(api.post(_path(submission), {"line": line, "text": text}), "Added", as_json=as_json)


@app.command()
def edit(
    submission: Submission, number: Number, text: Text, server: options.Server = None, as_json: options.Json = False
) -> None:
    """Give a comment of yours another text."""
    with connect(server) as api:
        _say(api.patch(f"{_path(submission)}/{number}", {"text": text}), "Changed", as_json=as_json)


@app.command()
def delete(
    submission: Submission, number: Number, server: options.Server = None, as_json: options.Json = False
) -> None:
    """Delete a comment of yours."""
    with connect(server) as api:
        _say(api.delete(f"{_path(submission)}/{number}"), "Deleted", as_json=as_json)


def _say(answer: Any, done: str, *, as_json: bool) -> None:
    found = read(LineComment, answer)
    print_answer(answer, f"{done} comment {found.number} at line {found.line}.", as_json=as_json)


def _path(submission: str) -> str:
    return f"submissions/{quote(submission, safe='')}/comments"
