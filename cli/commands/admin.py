"""The commands ``admin``, for operators of a server, on its machine."""

from __future__ import annotations

import typer

from cli.commands import (
    held_devices,
    job_queue,
    lti,
    notices,
    operated_submissions,
    operator_log,
    served_challenges,
    site_settings,
    users,
)

app = typer.Typer(help="For operators of a server.", no_args_is_help=True)
app.add_typer(notices.app, name="notice")
app.add_typer(site_settings.app, name="setting")
app.add_typer(held_devices.app, name="device")
app.add_typer(users.app, name="user")
app.add_typer(operated_submissions.app, name="submission")
app.add_typer(served_challenges.app, name="challenge")
app.add_typer(lti.app, name="lti")
app.command("queue")(job_queue.queue)
app.command("log")(operator_log.log)
