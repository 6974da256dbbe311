"""The entry point of ``gpujudge``: registers the commands and reports their errors."""

from __future__ import annotations

import sys

import typer

from cli.commands import account, audit, challenges, devices, emulation, local, machine, packs, submissions
from cli.console import say
from cli.errors import CliError

app = typer.Typer(
    name="gpujudge",
    help="Judge CUDA kernels: on a gpujudge server, or here.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command()(account.login)
app.command()(challenges.challenges)
app.command()(challenges.show)
app.command()(challenges.init)
app.command()(submissions.submit)
app.command()(submissions.run)
app.command()(submissions.watch)
app.command()(submissions.submissions)
app.command()(challenges.leaderboard)
app.command()(local.judge)
app.command(context_settings=emulation.CONTEXT)(emulation.emulate)
app.add_typer(packs.app, name="pack")
app.command()(machine.up)
app.command()(machine.worker)
app.command()(machine.doctor)
app.command()(audit.audit)
app.add_typer(devices.app, name="device")
app.add_typer(machine.db_app, name="db")


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    try:
        app()
    except CliError as error:
        say(f"error: {error.message}", "bold red")
        if error.hint:
            say(error.hint)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
