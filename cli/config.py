"""The server and its token: from the environment, else ``$XDG_CONFIG_HOME/gpujudge/config.json`` (mode 0600).

The file stores one token per server, and which version of each draft was last pulled from it or pushed to it:
``{"server": URL, "tokens": {URL: TOKEN}, "drafts": {URL: {SLUG: VERSION}}}``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, field
from pathlib import Path

from cli.errors import CliError, UsageError
from records import dataclass

DEFAULT_SERVER = "http://127.0.0.1:8000"


@dataclass(frozen=True, slots=True)
class Config:
    """The content of the configuration file."""

    server: str | None = None
    tokens: dict[str, str] = field(default_factory=dict)
    drafts: dict[str, dict[str, int]] = field(default_factory=dict)


def config_path(environ: Mapping[str, str] = os.environ) -> Path:
    """Returns the path of the file. Ignores a relative XDG_CONFIG_HOME, as its specification demands."""
    named = environ.get("XDG_CONFIG_HOME", "")
    base = Path(named) if named.startswith("/") else Path.home() / ".config"
    return base / "gpujudge" / "config.json"


def load_config(path: Path) -> Config:
    """Reads the file; a missing one counts as empty. Raises UsageError if it is malformed."""
    try:
        raw = json.loads(path.read_text("utf-8"))
        server = raw.get("server")
        if server is not None and not isinstance(server, str):
            raise ValueError("its server is not text")
        return Config(
            server=server,
            tokens={str(known): str(token) for known, token in raw.get("tokens", {}).items()},
            drafts={
                str(known): {str(slug): int(version) for slug, version in versions.items()}
                for known, versions in raw.get("drafts", {}).items()
            },
        )
    except FileNotFoundError:
        return Config()
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise UsageError(f"cannot read {path}: {error}", hint="Mend or remove it, then `gpujudge login`.") from None


def save_config(path: Path, config: Config) -> None:
    """Replaces the file atomically. It is never readable by other users, not even while it is written.

    Raises CliError if it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        unfinished = path.with_suffix(f".{os.getpid()}.new")
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(config), file, indent=2)
            file.write("\n")
        unfinished.replace(path)
    except OSError as error:
        hint = "XDG_CONFIG_HOME names another folder; GPUJUDGE_TOKEN needs no file."
        raise CliError(f"cannot write {path}: {error.strerror}", hint=hint) from None


def normalize_server(url: str) -> str:
    """Returns the URL under which tokens are stored: with a scheme, without a trailing slash."""
    url = url.strip().rstrip("/")
    return url if "://" in url else f"http://{url}"


def resolve_server(given: str | None, environ: Mapping[str, str] = os.environ) -> str:
    """Returns the option's server, else GPUJUDGE_SERVER, else that of the last log-in, else the local one."""
    return normalize_server(
        given or environ.get("GPUJUDGE_SERVER") or load_config(config_path(environ)).server or DEFAULT_SERVER
    )


def resolve_token(server: str, environ: Mapping[str, str] = os.environ) -> str | None:
    """Returns GPUJUDGE_TOKEN, else the token stored for this server; it is never sent to another."""
    return environ.get("GPUJUDGE_TOKEN") or load_config(config_path(environ)).tokens.get(server)
