"""The commands ``login``, ``logout`` and ``whoami``, about the token that is stored on this machine."""

from __future__ import annotations

import dataclasses
import os
import socket
import sys
from typing import Annotated, Any

import typer

from cli import options
from cli.api import Api
from cli.config import config_path, load_config, normalize_server, resolve_server, save_config
from cli.connect import connect
from cli.console import print_json, print_text, say
from cli.errors import Unreachable, UsageError


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
    path = config_path()
    config = load_config(path)
    if token_stdin:
        token = sys.stdin.readline().strip()
        if not token:
            raise UsageError("no token came from stdin")
    else:
        username, password = _credentials(username, password_stdin)
        body = {"username": username, "password": password, "name": f"gpujudge on {socket.gethostname()}"}
        with Api(url, None) as api:
            token = _text(api.post("tokens", body), "token")
    with Api(url, token) as api:
        name = _text(api.get("me"), "username")
    save_config(path, dataclasses.replace(config, server=url, tokens={**config.tokens, url: token}))
    say(f"Logged in to {url} as {name}.")
    if as_json:
        print_json({"server": url, "username": name})


def logout(server: options.Server = None, as_json: options.Json = False) -> None:
    """Forget the token of a server. It stays valid until you revoke it on the website's account page."""
    url = normalize_server(resolve_server(server))
    path = config_path()
    config = load_config(path)
    had_token = url in config.tokens
    if had_token:
        tokens = {known: token for known, token in config.tokens.items() if known != url}
        drafts = {known: versions for known, versions in config.drafts.items() if known != url}
        save_config(path, dataclasses.replace(config, tokens=tokens, drafts=drafts))
        say(f"Logged out of {url}. The token is valid until you revoke it at {url}/account.")
    else:
        say(f"There is no token for {url} here.")
    if "GPUJUDGE_TOKEN" in os.environ:
        say("GPUJUDGE_TOKEN is still set, and is used.")
    if as_json:
        print_json({"server": url, "logged_out": had_token})


def whoami(server: options.Server = None, as_json: options.Json = False) -> None:
    """Print the server and the user logged in to it."""
    with connect(server) as api:
        name = _text(api.get("me"), "username")
    if as_json:
        print_json({"server": api.server, "username": name})
    else:
        print_text(f"{name} on {api.server}")


def _text(answer: Any, key: str) -> str:
    """Returns a field of the server's answer. Raises Unreachable if it is not there."""
    if not isinstance(answer, dict) or not isinstance(answer.get(key), str):
        raise Unreachable(f"the server's answer has no {key}: is it the right address?")
    return str(answer[key])


def _credentials(username: str | None, password_stdin: bool) -> tuple[str, str]:
    if password_stdin:
        if not username:
            raise UsageError("--password-stdin needs --username")
        return username, sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise UsageError("there is no terminal to ask for a password on", hint="Use --password-stdin or --token-stdin.")
    username = username or typer.prompt("Username", err=True)
    return username, typer.prompt("Password", hide_input=True, err=True)
