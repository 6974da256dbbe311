"""The commands ``admin submission``: find submissions of anybody, and act on one, on this machine's database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import options
from cli.commands.machine import load_settings
from cli.console import print_json, print_table, say
from cli.database import command_actor, ring_builders, server_database
from cli.errors import CliError, UsageError
from cli.extras import need

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from store.models import Submission

app = typer.Typer(help="The submissions of all users.", no_args_is_help=True)

Reason = Annotated[str, typer.Argument(help="Why. The log keeps it.", show_default=False)]


@app.command("list")
def list_(
    user: Annotated[str | None, typer.Option(metavar="NAME", help="Only this user's.", show_default=False)] = None,
    challenge: Annotated[
        str | None, typer.Option("--challenge", "-c", metavar="SLUG", help="Only those to it.", show_default=False)
    ] = None,
    verdict: Annotated[str | None, typer.Option(help="Only those with it, such as WA.", show_default=False)] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many of the newest.")] = 50,
    before: Annotated[
        str | None, typer.Option(metavar="ID", help="Only what is older than this one.", show_default=False)
    ] = None,
    as_json: options.Json = False,
) -> None:
    """List submissions, the newest first."""
    submissions = need("store.submissions", "server")
    with server_database(load_settings()) as session:
        owner = None if user is None else need("store.people.accounts", "server").find_user(session, user)
        if user is not None and owner is None:
            raise CliError(f"there is no user {user}", hint="gpujudge user list TEXT finds users.")
        found = [
            {
                "id": one.public_id,
                "user": one.user.username,
                "challenge": one.challenge,
                "pack_version": one.pack_version,
                "device": one.device_key,
                "mode": one.mode,
                "state": str(one.state),
                "verdict": one.verdict,
                "off_board": one.off_board,
                "created_at": one.created_at.isoformat(timespec="seconds"),
            }
            for one in submissions.search_submissions(
                session,
                user_id=None if owner is None else owner.id,
                challenge=challenge,
                verdict=None if verdict is None else verdict.upper(),
                before=before,
                limit=limit,
            )
        ]
    if as_json:
        print_json({"submissions": found})
        return
    heads = ("id", "user", "challenge", "version", "device", "mode", "state", "verdict", "off its board", "sent")
    print_table(heads, [[value or "" for value in one.values()] for one in found])


@app.command("cancel")
def cancel(submission: options.SubmissionId) -> None:
    """Cancel a submission that is not judged yet: one that runs ends soon. This cannot be undone."""
    with _act(submission) as (administration, session, found, now):
        if not administration.cancel_for_operator(session, command_actor(), found, now=now):
            raise CliError(f"{submission} has ended already")
    say(f"{submission} is cancelled.")


@app.command("rejudge")
def rejudge(
    submission: options.SubmissionId,
    reason: Reason,
    same_version: Annotated[
        bool, typer.Option("--same-version", help="By the version of the challenge that judged it.")
    ] = False,
) -> None:
    """Judge a submission again. The earlier judgement is kept, but counts no longer. This cannot be undone."""
    with _act(submission, reason) as (administration, session, found, now):
        administration.rejudge(session, command_actor(), found, reason.strip(), now=now, same_version=same_version)
    ring_builders(load_settings())
    say(f"{submission} is judged again.")


@app.command("off-board")
def off_board(submission: options.SubmissionId, reason: Reason) -> None:
    """Take a submission off its board. Its author sees the reason."""
    with _act(submission, reason) as (administration, session, found, now):
        administration.take_off_board(session, command_actor(), found, reason.strip(), now=now)
    say(f"{submission} is off its board. `gpujudge admin submission on-board {submission}` undoes it.")


@app.command("on-board")
def on_board(submission: options.SubmissionId) -> None:
    """Put a submission back on its board."""
    with _act(submission) as (administration, session, found, now):
        administration.put_on_board(session, command_actor(), found, now=now)
    say(f"{submission} is on its board, if it is the best of its author there.")


@contextmanager
def _act(public_id: str, reason: str = "none is asked for") -> Iterator[tuple[Any, Session, Submission, datetime]]:
    """Yields the arguments of an action on a submission. Raises UsageError without a reason, and CliError.

    That is raised if there is no such submission, or the action is not possible.
    """
    if not reason.strip():
        raise UsageError("give a reason: the log keeps it")
    administration = need("store.operation.administration", "server")
    with server_database(load_settings()) as session:
        found = need("store.submissions", "server").get_submission(session, public_id)
        if found is None:
            raise CliError(f"there is no submission {public_id}", hint="See: gpujudge admin submission list")
        try:
            yield administration, session, found, need("store.clock", "server").utc_now()
        except administration.NotPossibleError as error:
            raise CliError(str(error)) from None
