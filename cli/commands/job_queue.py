"""The command ``admin queue``: what runs and what waits, from this machine's database."""

from __future__ import annotations

from dataclasses import asdict

from cli import options
from cli.commands.machine import load_settings
from cli.console import print_json, print_table, say
from cli.database import server_database
from cli.extras import need


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
