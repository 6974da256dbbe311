"""The commands ``admin device``: hold a device, so that it takes no work, on this machine's database."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
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
    from sqlalchemy.orm import Session

    from store.models import Device

app = typer.Typer(help="The devices that workers offer.", no_args_is_help=True)

Key = Annotated[str, typer.Argument(metavar="KEY", help="As `list` says.", show_default=False)]


@app.command("list")
def list_(as_json: options.Json = False) -> None:
    """List the devices that a worker ever offered, which are held, and which boards are out of service."""
    store = need("store.devices", "server")
    with server_database(load_settings()) as session:
        work = store.count_work(session)
        found = [
            {
                "key": device.key,
                "name": device.name,
                "last_seen_at": device.last_seen_at.isoformat(timespec="seconds"),
                "running": work.get(device.key, (0, 0))[0],
                "waiting": work.get(device.key, (0, 0))[1],
                "held": device.held,
                "out_of_service": [
                    f"{board.board[:12]}: {board.problem}, since {board.problem_since.isoformat(timespec='seconds')}"
                    for board in store.list_device_boards(session, device.key)
                    if board.problem
                ],
            }
            for device in store.all_devices(session)
        ]
    if as_json:
        print_json({"devices": found})
        return
    heads = ("device", "name", "last seen", "runs", "waits", "held", "out of service")
    rows = [[*list(one.values())[:5], one["held"] or "", "; ".join(one["out_of_service"])] for one in found]
    print_table(heads, [[str(value) for value in row] for row in rows], right=("runs", "waits"))


@app.command("calibrations")
def calibrations(key: Key, as_json: options.Json = False) -> None:
    """List what a device's boards were measured to be able to do, over time."""
    with server_database(load_settings()) as session:
        found = [
            {
                "board": row.board,
                "measured_at": row.measured_at.isoformat(timespec="seconds"),
                "driver": row.driver,
                "read_bytes_per_s": row.read_bytes_per_s,
                "copy_bytes_per_s": row.copy_bytes_per_s,
                "rates": row.rates,
            }
            for row in need("store.devices", "server").list_calibrations(session, key)
        ]
    if as_json:
        print_json({"calibrations": found})
        return
    rows = [
        (one["board"][:12], one["measured_at"], one["driver"], f"{one['read_bytes_per_s'] / 1e9:,.0f} GB/s",
         f"{one['copy_bytes_per_s'] / 1e9:,.0f} GB/s",
         ", ".join(f"{name} {rate / 1e12:,.1f}" for name, rate in one["rates"].items()))
        for one in found
    ]  # fmt: skip
    print_table(("board", "measured", "driver", "reading", "copying", "Tera-operations/s"), rows)


@app.command("hold")
def hold(
    key: Key,
    reason: Annotated[str, typer.Argument(help="Why. The log keeps it, and operators see it.", show_default=False)],
) -> None:
    """Let a device finish what runs and take nothing new. New submissions to it wait."""
    if not reason.strip():
        raise UsageError("give a reason: the log keeps it")
    with _act(key) as (administration, session, device, now):
        administration.hold_device(session, command_actor(), device, reason, now=now)
    say(f"{key} takes nothing new. `gpujudge admin device release {key}` undoes it.")


@app.command("release")
def release(key: Key) -> None:
    """Let a held device take work again."""
    with _act(key) as (administration, session, device, now):
        administration.release_device(session, command_actor(), device, now=now)
    say(f"{key} takes work.")


@contextmanager
def _act(key: str) -> Iterator[tuple[Any, Session, Device, datetime]]:
    """Yields the arguments of an action on a device. Raises CliError if there is none, or it cannot be done."""
    administration = need("store.operation.administration", "server")
    with server_database(load_settings()) as session:
        table = need("store.models", "server").Device
        device = session.get(table, key)
        if device is None:
            known = [one.key for one in session.query(table)]
            near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
            asked = f"; do you mean {near[0]}?" if near else ""
            raise CliError(f"no worker has offered a device {key}{asked}", hint="See: gpujudge admin device list")
        try:
            yield administration, session, device, need("store.clock", "server").utc_now()
        except administration.NotPossibleError as error:
            raise CliError(str(error)) from None
