"""The ``login`` command, which stores a token on this machine."""

from __future__ import annotations

import socket
import sys
from typing import Annotated

import typer

from cli import options
from cli.api import Api
from cli.config import config_path, load_config, normalize_server, resolve_server, save_config
from cli.console import print_json, say
from cli.errors import UsageError


def login(
    server: options.Server = None,
    username: Annotated[str | None, typer.Option("--username", "-u", help="Asked for when not given.")] = None,
    password_stdin: Annotated[bool, typer.Option("--password-stdin", help="Read the password from stdin.")] = False,
    token_stdin: Annotated[
        bool, typer.Option("--token-stdin", help="Read a token made on the website from stdin, and keep it.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Log in to a server and keep a token for it.

    The token goes to $XDG_CONFIG_HOME/gpujudge/config.json, readable only by you. GPUJUDGE_SERVER and GPUJUDGE_TOKEN
    stand above it.
    """
    url = normalize_server(resolve_server(server))
    if token_stdin:
        token = sys.stdin.readline().strip()
        if not token:
            raise UsageError("no token came from stdin")
    else:
        username, password = _credentials(username, password_stdin)
        body = {"username": username, "password": password, "name": f"gpujudge on {socket.gethostname()}"}
        with Api(url, None) as api:
            token = str(api.post("tokens", body)["token"])
    with Api(url, token) as api:
        me = api.get("me")
    path = config_path()
    config = load_config(path)
    save_config(path, type(config)(server=url, tokens={**config.tokens, url: token}))
    say(f"Logged in to {url} as {me['username']}.")
    if as_json:
        print_json({"server": url, "username": me["username"]})


def _credentials(username: str | None, password_stdin: bool) -> tuple[str, str]:
    if password_stdin:
        if not username:
            raise UsageError("--password-stdin needs --username")
        return username, sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise UsageError("there is no terminal to ask for a password on", hint="Use --password-stdin or --token-stdin.")
    username = username or typer.prompt("Username", err=True)
    return username, typer.prompt("Password", hide_input=True, err=True)
