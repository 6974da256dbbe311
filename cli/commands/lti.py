"""The commands ``admin lti``: learning platforms that are connected by LTI 1.3, on this machine's database."""

from __future__ import annotations

from typing import Annotated

import typer

from cli import options
from cli.commands.machine import load_settings
from cli.console import print_json, print_table, say
from cli.database import command_actor, server_database
from cli.errors import CliError, UsageError
from cli.extras import need

app = typer.Typer(help="The learning platforms connected by LTI 1.3.", no_args_is_help=True)

_Address = Annotated[str, typer.Option(metavar="URL", help="As the platform shows it.", show_default=False)]


@app.command("add")
def add(
    title: Annotated[str, typer.Argument(help="As users see it.", show_default=False)],
    issuer: Annotated[str, typer.Option(help="Who signs its messages: an address.", show_default=False)],
    client_id: Annotated[str, typer.Option(help="The platform's name for this site.", show_default=False)],
    deployment: Annotated[list[str], typer.Option(help="The id of a deployment; may be repeated.", show_default=False)],
    key_set_url: _Address,
    auth_login_url: _Address,
    auth_token_url: _Address,
    auth_audience: Annotated[str, typer.Option(help="Whom token requests name, if not their address.")] = "",
    makes_teachers: Annotated[
        bool, typer.Option("--makes-teachers", help="Its instructors may hold classes without a role here.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Register a platform, and print the addresses that it asks for."""
    platforms, now = need("store.teaching.lti_platforms", "server"), need("store.clock", "server").utc_now()
    settings = load_settings()
    details = platforms.PlatformDetails(
        title, issuer, client_id, deployment, key_set_url, auth_login_url, auth_token_url, auth_audience, makes_teachers
    )
    with server_database(settings) as session:
        try:
            number = platforms.save_platform(session, command_actor(), details, now=now).id
        except platforms.PlatformError as error:
            raise UsageError(f"{error.field.replace('_', ' ')}: {error}") from None
    addresses = {name: f"{settings.site_url}/lti/{path}" for name, path in _ADDRESSES.items()}
    if as_json:
        print_json({"id": number, "addresses": addresses})
        return
    say(f"platform {number} is registered; it asks for:")
    print_table(("what", "address"), list(addresses.items()))


@app.command("list")
def list_(as_json: options.Json = False) -> None:
    """List the registered platforms."""
    with server_database(load_settings()) as session:
        found = [
            {
                "id": each.id,
                "title": each.title,
                "issuer": each.issuer,
                "client_id": each.client_id,
                "deployments": list(each.deployment_ids),
            }
            for each in need("store.teaching.lti_platforms", "server").list_platforms(session)
        ]
    if as_json:
        print_json({"platforms": found})
        return
    rows = [(one["id"], one["title"], one["issuer"], one["client_id"], " ".join(one["deployments"])) for one in found]
    print_table(("id", "title", "issuer", "client id", "deployments"), rows)


@app.command("remove")
def remove(
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="As `list` says.", show_default=False)],
) -> None:
    """Remove a platform: its courses are no longer connected; classes and accounts stay."""
    platforms, now = need("store.teaching.lti_platforms", "server"), need("store.clock", "server").utc_now()
    with server_database(load_settings()) as session:
        removed = platforms.remove_platform(session, command_actor(), number, now=now)
        if removed is None:
            raise CliError(f"there is no platform {number}", hint="See: gpujudge admin lti list")
    say(f"platform {number} is removed")


_ADDRESSES = {"log-in": "login", "launch": "launch", "public keys": "jwks.json"}
