"""The commands ``class staff``: who teaches a class on a server, for its owner."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

import typer

from cli import options
from cli.answers import read
from cli.class_arguments import Number, User
from cli.connect import connect
from cli.console import print_answer, print_json, print_table
from cli.teaching_answers import ShownClass

app = typer.Typer(help="Who teaches a class: for its owner.", no_args_is_help=True)


@app.command("list")
def list_(number: Number, server: options.Server = None, as_json: options.Json = False) -> None:
    """List who teaches a class, and the section that each sees."""
    with connect(server) as api:
        answer = api.get(f"classes/{number}")
    if as_json:
        print_json({"teachers": answer["teachers"]})
        return
    found = read(ShownClass, answer)
    print_table(("user", "role", "section"), ((one.username, one.role, one.section or "all") for one in found.teachers))


@app.command("set")
def set_(
    number: Number,
    user: User,
    assistant: Annotated[
        bool, typer.Option("--assistant/--teacher", help="The role: assistants see work and extend deadlines.")
    ] = True,
    section: Annotated[
        str, typer.Option("--section", metavar="NAME", help="The only section that an assistant sees.")
    ] = "",
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """Make a user an assistant or a teacher of a class, or give them another role or section."""
    role = "assistant" if assistant else "teacher"
    with connect(server) as api:
        answer = api.put(f"classes/{number}/staff/{quote(user, safe='')}", {"role": role, "section": section})
    print_answer(answer, f"{user} is {'an' if assistant else 'a'} {role} of class {number}.", as_json=as_json)


@app.command()
def remove(number: Number, user: User, server: options.Server = None, as_json: options.Json = False) -> None:
    """Take a teacher's or an assistant's rights in a class away."""
    with connect(server) as api:
        answer = api.delete(f"classes/{number}/staff/{quote(user, safe='')}")
    print_answer(answer, f"{user} no longer teaches class {number}.", as_json=as_json)
