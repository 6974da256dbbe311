"""The commands of ``gpujudge``: where each is, and what the list of commands says of it."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.lazy import LazyCommand, LazyGroup

#: By name, in the order of the help.
_COMMANDS = {
    "login": LazyCommand("cli.commands.account:login", "Log in to a server and keep a token for it."),
    "logout": LazyCommand("cli.commands.account:logout", "Forget the token of a server."),
    "whoami": LazyCommand("cli.commands.account:whoami", "Print the server and the user logged in to it."),
    "challenges": LazyCommand("cli.commands.challenges:challenges", "List the challenges."),
    "track": LazyCommand(
        "cli.commands.tracks:track", "List the tracks; print one with your progress, or one of its lessons."
    ),
    "show": LazyCommand("cli.commands.challenges:show", "Print a challenge: its statement, signature and limits."),
    "init": LazyCommand(
        "cli.commands.challenges:init", "Write a challenge's starter (SLUG.cu) and statement (SLUG.md)."
    ),
    "pull": LazyCommand("cli.commands.drafts:pull", "Write your draft on the website for a challenge to a file."),
    "push": LazyCommand("cli.commands.drafts:push", "Save a file as your draft for its challenge on the website."),
    "submit": LazyCommand(
        "cli.commands.submissions:submit", "Send kernels: every case, then the timing, then the leaderboard."
    ),
    "run": LazyCommand("cli.commands.submissions:run", "Try kernels on the public cases only; nothing is ranked."),
    "watch": LazyCommand("cli.commands.submissions:watch", "Follow a submission to its verdict."),
    "cancel": LazyCommand("cli.commands.submissions:cancel", "Cancel a submission that is not judged yet."),
    "source": LazyCommand("cli.commands.submissions:source", "Print the source of a submission."),
    "open": LazyCommand("cli.commands.submissions:open_", "Open a submission's page in the browser."),
    "submissions": LazyCommand("cli.commands.submissions:submissions", "List your submissions, the newest first."),
    "leaderboard": LazyCommand("cli.commands.challenges:leaderboard", "Print a challenge's leaderboard on one device."),
    "solutions": LazyCommand(
        "cli.commands.solutions:solutions",
        "List the solutions of a challenge that you have solved or given up; print one of them.",
    ),
    "class": LazyCommand("cli.commands.classes:app", "Classes on a server: for their teachers and members."),
    "comment": LazyCommand(
        "cli.commands.comments:app", "Comments at lines of a submission: by who teaches its user, and answers."
    ),
    "contest": LazyCommand("cli.commands.contests:app", "Contests on a server."),
    "judge": LazyCommand(
        "cli.commands.local:judge",
        "Judge kernels here, without a server, on the emulator or a GPU of this machine.",
    ),
    "batch": LazyCommand("cli.commands.served_batch:app", "Many kernels through a server's queue."),
    "compare": LazyCommand(
        "cli.commands.compare:compare",
        "Judge two or more kernels here, on the same inputs, and show them side by side.",
    ),
    "emulate": LazyCommand(
        "cli.commands.emulation:emulate",
        "Run a program built with `nvcc -cudart shared` on the CPU, and report on it.",
        # Everything after PROGRAM belongs to the program, even if it looks like an option.
        context={"allow_interspersed_args": False},
    ),
    "asm": LazyCommand(
        "cli.commands.assembly:asm",
        "Print the machine code (SASS) or PTX of each kernel, under the source lines that it was made for.",
    ),
    "profile": LazyCommand(
        "cli.commands.profile:profile",
        "Profile a kernel with Nsight Compute on a GPU of this machine, beside the figures of the emulator's model.",
    ),
    "export": LazyCommand(
        "cli.commands.export:export", "Write a kernel as a PyTorch extension (--torch) or a shared library (--ctypes)."
    ),
    "gradescope": LazyCommand(
        "cli.commands.gradescope:gradescope",
        "Write an autograder for Gradescope, which judges submissions to a challenge on the emulator.",
    ),
    "pack": LazyCommand("cli.commands.packs:app", "For authors of challenges."),
    "up": LazyCommand("cli.commands.machine:up", "Start everything: database, website, workers."),
    "worker": LazyCommand("cli.commands.machine:worker", "Run one worker process in the foreground."),
    "config": LazyCommand("cli.commands.config:app", "The settings of a server: gpujudge.toml and the environment."),
    "doctor": LazyCommand(
        "cli.commands.machine:doctor", "Say what this machine can do, what it lacks, and what to do about it."
    ),
    "audit": LazyCommand("cli.commands.audit:audit", "Time the first places of a leaderboard again, in alternation."),
    "device": LazyCommand("cli.commands.devices:app", "The devices of this machine."),
    "admin": LazyCommand("cli.commands.admin:app", "For operators of a server."),
    "user": LazyCommand("cli.commands.users:app", "The server's users."),
    "db": LazyCommand("cli.commands.machine:db_app", "The server's database."),
    "backup": LazyCommand("cli.commands.backup:backup", "Write a backup of the server's database to FILE."),
    "restore": LazyCommand("cli.commands.backup:restore", "Make the server's database what FILE holds."),
}


class Commands(LazyGroup):
    """The commands of ``gpujudge``."""

    table = _COMMANDS


app = typer.Typer(
    name="gpujudge",
    cls=Commands,
    help="Judge CUDA kernels: on a gpujudge server, or here.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Rich's help would take as long to import as everything else together.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from judge import __version__

        typer.echo(f"gpujudge {__version__}")
        raise typer.Exit


@app.callback()
def _gpujudge(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Judge CUDA kernels: on a gpujudge server, or here."""
