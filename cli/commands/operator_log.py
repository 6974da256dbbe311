"""The command ``admin log``: what operators did, from this machine's database."""

from __future__ import annotations

from typing import Annotated

import typer

from cli import options
from cli.commands.machine import load_settings
from cli.console import print_json, print_table
from cli.database import server_database
from cli.extras import need


def log(
    target: Annotated[
        str | None, typer.Argument(help="Only what was done to this, such as 'user ada'.", show_default=False)
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many of the latest.")] = 50,
    before: Annotated[
        int | None, typer.Option(min=1, metavar="ID", help="Only what is older than this entry.", show_default=False)
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Print what operators did, the latest first: when, who, what, on what, and from where."""
    with server_database(load_settings()) as session:
        found = [
            {
                "id": action.id,
                "at": action.at.isoformat(timespec="seconds"),
                "actor": action.actor,
                "action": action.action,
                "target": action.target,
                "details": action.details,
                "address": action.address or None,
            }
            for action in need("store.operation.operator_log", "server").list_actions(
                session, target=target, before=before, limit=limit
            )
        ]
    if as_json:
        print_json({"actions": found})
        return
    rows = [
        [
            *(str(one[name]) for name in ("id", "at", "actor", "action", "target")),
            "; ".join(f"{name.replace('_', ' ')}: {value}" for name, value in one["details"].items()),
            one["address"] or "command",
        ]
        for one in found
    ]
    print_table(("id", "at", "who", "what", "on", "details", "from"), rows)
