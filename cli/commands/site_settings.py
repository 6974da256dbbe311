"""The commands ``admin setting``: what may change while the site runs, on this machine's database."""

from __future__ import annotations

from typing import Annotated

import typer

from cli import options
from cli.commands.machine import load_settings
from cli.console import print_json, print_table, say
from cli.database import command_actor, server_database
from cli.errors import UsageError
from cli.extras import need

app = typer.Typer(help="The settings that may change while the site runs.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="As `list` says.", show_default=False)]


@app.command("list")
def list_(as_json: options.Json = False) -> None:
    """List the settings, with their values now and those of the environment."""
    settings = load_settings()
    with server_database(settings) as session:
        stored = need("store.operation.changed_settings", "server").changed_settings(session)
    now = settings.changed(stored)
    rows = [
        {"name": name, "value": getattr(now, name), "environment": getattr(settings, name)}
        for name in need("web.settings", "server").site_setting_names()
    ]
    if as_json:
        print_json({"settings": rows})
    else:
        print_table(("name", "value", "environment"), [[str(value) for value in row.values()] for row in rows])


@app.command("set")
def set_(
    name: Name,
    value: Annotated[str, typer.Argument(metavar="VALUE", show_default=False)],
) -> None:
    """Change a setting, from the website's next request on. It outlasts restarts, and the environment's value."""
    settings = load_settings()
    module = need("web.settings", "server")
    try:
        checked = module.check_setting(name, value)
    except module.SettingError as error:
        raise UsageError(f"{name}: {error}" if name in module.site_setting_names() else str(error)) from None
    now = need("store.clock", "server").utc_now()
    with server_database(settings) as session:
        need("store.operation.changed_settings", "server").change_setting(
            session, command_actor(), name, checked, now=now
        )
    say(f"{name} is {checked}; the environment's value comes back with: gpujudge admin setting reset {name}")


@app.command("reset")
def reset(name: Name) -> None:
    """Give a setting the environment's value again."""
    settings = load_settings()
    module = need("web.settings", "server")
    try:
        module.check_setting_name(name)
    except module.SettingError as error:
        raise UsageError(str(error)) from None
    now = need("store.clock", "server").utc_now()
    with server_database(settings) as session:
        changed = need("store.operation.changed_settings", "server").reset_setting(
            session, command_actor(), name, now=now
        )
    say(f"{name} is {getattr(settings, name)}" + ("" if changed else ", as it was"))
