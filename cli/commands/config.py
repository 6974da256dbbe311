"""The commands ``config``: the settings of a server, in ``gpujudge.toml`` and in the environment."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cli import options
from cli.console import print_json, print_table, print_text, say
from cli.errors import UsageError
from cli.extras import need
from store.operation.config_file import NAME, apply_config, config_file
from store.operation.environment import PREFIX, SettingsProblem

if TYPE_CHECKING:
    from pydantic_settings import BaseSettings

app = typer.Typer(help="The settings of a server: gpujudge.toml and the environment.", no_args_is_help=True)

#: Settings whose values nobody else may read, and the password in an address.
_SECRET = re.compile(r"SECRET|TOKEN|^OIDC$")
_PASSWORD = re.compile(r"(?<=:)[^:@/]+(?=@)")
_HIDDEN = "(hidden)"


def _kinds() -> list[type[BaseSettings]]:
    return [
        need("web.settings", "server").WebSettings,
        need("logs", "server").LogSettings,
        need("logs.traces", "server").TraceSettings,
    ]


def _applied() -> frozenset[str]:
    """Returns the variables that the file set. Raises UsageError."""
    try:
        return apply_config(os.environ)
    except SettingsProblem as error:
        raise UsageError(error.message, hint=error.remedy) from None


@app.command("check")
def check() -> None:
    """Check gpujudge.toml and the environment: every mistake, and what to type instead."""
    of_file = _applied()
    read = need("store.settings", "server").read_settings
    problems: list[SettingsProblem] = []
    for kind in _kinds():
        try:
            read(kind)
        except SettingsProblem as error:
            problems.append(error)
    if problems:
        message = "; ".join(dict.fromkeys(problem.message for problem in problems))
        for name in of_file:
            message = re.sub(rf"\b{name}\b", f"{name.removeprefix(PREFIX).lower()} in {NAME}", message)
        raise UsageError(message, hint="\n".join(dict.fromkeys(problem.remedy for problem in problems)))
    path = config_file(os.environ, Path.cwd())
    others = sum(name.upper().startswith(PREFIX) for name in os.environ) - len(of_file)
    print_text(f"{path or f'no {NAME}'}: {len(of_file)} settings; the environment: {others}. All are right.")
    if path is not None and path.stat().st_mode & 0o077 and any(_hides(name, os.environ[name]) for name in of_file):
        say(f"Others on this machine can read the secrets in it: chmod 600 {path}")


@app.command("show")
def show(as_json: options.Json = False) -> None:
    """Print every setting with its value and where that comes from; secrets are hidden."""
    of_file = _applied()
    environ = {name.upper(): value for name, value in os.environ.items()}
    rows: list[dict[str, Any]] = []
    for kind in _kinds():
        for name, field in sorted(kind.model_fields.items()):
            variable = PREFIX + name.upper()
            source = NAME if variable in of_file else "environment" if variable in environ else "default"
            value = environ.get(variable)
            if value is None:
                default = field.get_default(call_default_factory=True)
                value = None if default is None else _plain(default)
            rows.append({"name": name, "value": _shown(variable, value), "from": source})
    if as_json:
        print_json({"settings": rows})
    else:
        print_table(("name", "value", "from"), [row.values() for row in rows])


def _plain(default: Any) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    return os.pathsep.join(map(str, default)) if isinstance(default, tuple) else str(default)


def _shown(variable: str, value: str | None) -> str | None:
    if value is None:
        return None
    return _HIDDEN if _SECRET.search(variable.removeprefix(PREFIX)) else _PASSWORD.sub(_HIDDEN, value)


def _hides(variable: str, value: str) -> bool:
    return _shown(variable, value) != value
