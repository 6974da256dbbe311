"""The commands ``admin notice``: messages that every page of the site shows, on this machine's database."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import options
from cli.commands.machine import load_settings
from cli.console import print_json, print_table, say
from cli.database import command_actor, server_database
from cli.errors import CliError, UsageError
from cli.extras import need

if TYPE_CHECKING:
    from store.models import Notice

app = typer.Typer(help="The notices that every page shows.", no_args_is_help=True)


@app.command("post")
def post(
    text: Annotated[str, typer.Argument(help="The text, in at most 500 characters.", show_default=False)],
    warning: Annotated[bool, typer.Option("--warning", help="It is about trouble: show it in amber.")] = False,
    begin: Annotated[
        datetime | None,
        typer.Option(
            "--from", formats=options.MOMENT_FORMATS, metavar="TIME", help="As '2026-12-01 18:00', in UTC; else now."
        ),
    ] = None,
    until: Annotated[
        datetime | None,
        typer.Option(
            "--until", formats=options.MOMENT_FORMATS, metavar="TIME", help="The same; else until it is ended."
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Show a message on every page, from the next request on."""
    notices, now = need("store.people.notices", "server"), need("store.clock", "server").utc_now()
    with server_database(load_settings()) as session:
        try:
            notice = notices.post_notice(
                session,
                command_actor(),
                text,
                kind="warning" if warning else "info",
                now=now,
                starts_at=options.in_utc(begin),
                ends_at=options.in_utc(until),
            )
        except notices.NoticeError as error:
            raise UsageError(str(error)) from None
    if as_json:
        print_json(_plain(notice, now))
    else:
        say(f"notice {notice.id} is {_plain(notice, now)['state']}; end it with: gpujudge admin notice end {notice.id}")


@app.command("list")
def list_(as_json: options.Json = False) -> None:
    """List the newest fifty notices, ended ones included."""
    notices, now = need("store.people.notices", "server"), need("store.clock", "server").utc_now()
    with server_database(load_settings()) as session:
        found = [_plain(notice, now) for notice in notices.list_notices(session)]
    if as_json:
        print_json({"notices": found})
        return
    columns = ("id", "state", "kind", "starts_at", "ends_at", "text")
    print_table([name.replace("_", " ") for name in columns], [[one[name] for name in columns] for one in found])


@app.command("end")
def end(number: Annotated[int, typer.Argument(metavar="NUMBER", help="As `list` says.", show_default=False)]) -> None:
    """Take a notice off the pages."""
    notices, now = need("store.people.notices", "server"), need("store.clock", "server").utc_now()
    with server_database(load_settings()) as session:
        if notices.end_notice(session, command_actor(), number, now=now) is None:
            raise CliError(f"there is no notice {number} that has not ended", hint="See: gpujudge admin notice list")
    say(f"notice {number} has ended")


def _plain(notice: Notice, now: datetime) -> dict[str, Any]:
    ended = notice.ends_at is not None and notice.ends_at <= now
    return {
        "id": notice.id,
        "state": "ended" if ended else "planned" if notice.starts_at > now else "shown",
        "kind": notice.kind,
        "starts_at": notice.starts_at.isoformat(timespec="seconds"),
        "ends_at": None if notice.ends_at is None else notice.ends_at.isoformat(timespec="seconds"),
        "text": notice.text,
    }
