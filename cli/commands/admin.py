"""The commands ``admin``, for operators of a server, on its machine."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from cli import options
from cli.commands import held_devices, lti, notices, operated_submissions, served_challenges, site_settings, users
from cli.commands.machine import load_settings
from cli.console import print_json, print_table, say
from cli.database import server_database
from cli.extras import need

app = typer.Typer(help="For operators of a server.", no_args_is_help=True)
app.add_typer(notices.app, name="notice")
app.add_typer(site_settings.app, name="setting")
app.add_typer(held_devices.app, name="device")
app.add_typer(users.app, name="user")
app.add_typer(operated_submissions.app, name="submission")
app.add_typer(served_challenges.app, name="challenge")
app.add_typer(lti.app, name="lti")


@app.command()
def queue(as_json: options.Json = False) -> None:
    """List what runs, on which worker, then what waits, in the order in which it is taken: at most 200."""
    with server_database(load_settings()) as session:
        found = [
            asdict(job)
            | {"state": str(job.state)}
            | {name: getattr(job, name).isoformat(timespec="seconds") for name in ("created_at", "since")}
            for job in need("store.queue.queue_listing", "server").list_queue(session)
        ]
        now = need("store.clock", "server").utc_now()
        checks = asdict(need("store.boards.rechecks", "server").recheck_figures(session, now=now))
    if as_json:
        print_json({"jobs": found, "rechecks": checks})
        return
    if checks["waiting"] or checks["running"]:
        say(f"checks on the emulator: {checks['waiting']} waiting, {checks['running']} running")
    heads = ("id", "user", "challenge", "device", "mode", "state", "sent", "since", "worker", "last error", "failed")
    print_table(heads, [["" if value is None else value for value in job.values()] for job in found], right=("failed",))


@app.command()
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
