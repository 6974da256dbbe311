"""The ``user`` commands, for operators, on this machine's database."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import options
from cli.commands.machine import load_settings
from cli.console import print_json, print_table, print_text, say
from cli.database import command_actor, server_database
from cli.errors import CliError, UsageError
from cli.extras import need

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from store.models import User
    from store.operation.operator_log import Actor

app = typer.Typer(help="The server's users.", no_args_is_help=True)


@app.callback()
def _user() -> None:
    """The server's users."""


@app.command("reset")
def reset(
    name: Annotated[str, typer.Argument(help="The user's name.")],
    second_factor: Annotated[
        bool, typer.Option("--second-factor", help="Turn the second factor off, too: its device is lost.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Print a link by which a user chooses a new password. It works once, within 30 minutes."""
    settings = load_settings()
    with _act(name) as (administration, session, actor, user, now):
        text = administration.make_reset_link(session, actor, user, second_factor=second_factor, now=now)
    _print_links([f"{settings.site_url}/account/reset/{text}"], as_json)


@app.command("invite")
def invite(
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=1000, help="How many links.")] = 1,
    days: Annotated[int, typer.Option(min=1, max=365, help="How long each can be used.")] = 14,
    as_json: options.Json = False,
) -> None:
    """Print links with which one person each signs up, where GPUJUDGE_SIGN_UP is ``invitation``."""
    settings = load_settings()
    links, now = need("store.people.links", "server"), need("store.clock", "server").utc_now()
    with server_database(settings) as session:
        texts = [
            links.create_link(session, links.Purpose.INVITE, lifetime=timedelta(days=days), now=now)
            for _ in range(count)
        ]
        sign_up = settings.changed(need("store.operation.changed_settings", "server").changed_settings(session)).sign_up
    if sign_up != "invitation":
        say(f"The setting sign_up is {sign_up}: these links are needed only where it is invitation.")
    _print_links([f"{settings.site_url}/account/sign-up?invite={text}" for text in texts], as_json)


class RoleName(StrEnum):
    """The roles, each with the rights of those before it."""

    USER = "user"
    AUTHOR = "author"
    TEACHER = "teacher"
    OPERATOR = "operator"


@app.command("role")
def role(
    name: Annotated[str, typer.Argument(help="The user's name.")],
    role: Annotated[RoleName, typer.Argument(help="The user's role from now on.")],
) -> None:
    """Give a user a role; an operator runs the site, at /admin."""
    with _act(name) as (administration, session, actor, user, now):
        administration.set_role(session, actor, user, need("store.models", "server").Role(role.value), now=now)
    say(f"{name} is {'an' if role.value[0] in 'ao' else 'a'} {role.value} now.")


@app.command("suspend")
def suspend(
    name: Annotated[str, typer.Argument(help="The user's name.")],
    reason: Annotated[str, typer.Option(help="Why, for the log and for other operators.")],
) -> None:
    """Keep a user out until restored: sessions end, and password and tokens do nothing."""
    with _act(name) as (administration, session, actor, user, now):
        administration.suspend_user(session, actor, user, reason, now=now)
    say(f"{name} is suspended. `gpujudge user restore {name}` undoes it.")


@app.command("restore")
def restore(name: Annotated[str, typer.Argument(help="The user's name.")]) -> None:
    """Let a suspended user in again."""
    with _act(name) as (administration, session, actor, user, now):
        administration.restore_user(session, actor, user, now=now)
    say(f"{name} is not suspended.")


@app.command("merge")
def merge(
    name: Annotated[str, typer.Argument(help="The account that ends.")],
    into: Annotated[str, typer.Argument(help="The account of the same person that stays.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Merge an account into another one, and close it. This cannot be undone."""
    merging = need("store.people.merging", "server")
    with _act(name) as (_administration, session, actor, user, now):
        kept = need("store.people.accounts", "server").find_user(session, into)
        if kept is None:
            raise CliError(f"there is no user {into}", hint="gpujudge user list TEXT finds users.")
        if not yes:
            if not sys.stdin.isatty():
                raise UsageError("there is no terminal to ask on whether you are sure", hint="Use --yes.")
            say(f"{name} has {merging.merge_summary(session, user)}, which {into} will have.")
            say(f"The account {name} is closed. This cannot be undone.")
            typer.confirm("Merge them for good?", abort=True, err=True)
        summary = merging.merge_user(session, actor, user, kept, now=now)
    say(f"{name} is merged into {into}: {summary} went over.")


@app.command("list")
def list_(
    text: Annotated[str, typer.Argument(help="Part of a name or address.", show_default=False)] = "",
    as_json: options.Json = False,
) -> None:
    """List users, the newest first: at most 50."""
    administration = need("store.operation.administration", "server")
    with server_database(load_settings()) as session:
        found = [
            {
                "username": user.username,
                "role": str(user.role),
                "state": "closed" if not user.is_active else "suspended" if user.suspended_at else "active",
                "created_at": user.created_at.isoformat(),
            }
            for user in administration.search_users(session, text)
        ]
    if as_json:
        print_json({"users": found})
        return
    print_table(("user", "role", "state", "since"), [tuple(one.values()) for one in found])


@contextmanager
def _act(name: str) -> Iterator[tuple[Any, Session, Actor, User, datetime]]:
    """Yields the arguments of an action on a user: its module, the transaction, the actor, the user, and the time.

    Raises CliError if there is no such user, or the action is not possible.
    """
    administration = need("store.operation.administration", "server")
    with server_database(load_settings()) as session:
        user = need("store.people.accounts", "server").find_user(session, name)
        if user is None:
            raise CliError(f"there is no user {name}", hint="gpujudge user list TEXT finds users.")
        try:
            yield administration, session, command_actor(), user, need("store.clock", "server").utc_now()
        except administration.NotPossibleError as error:
            raise CliError(str(error)) from None


def _print_links(urls: list[str], as_json: bool) -> None:
    if as_json:
        print_json({"links": urls})
    else:
        for url in urls:
            print_text(url)
