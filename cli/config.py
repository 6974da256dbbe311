"""Which server, and as whom: the environment first, then ``$XDG_CONFIG_HOME/gpujudge/config.json`` (mode 0600).

The file keeps one token for each server logged in to: ``{"server": URL, "tokens": {URL: TOKEN}}``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cli.errors import UsageError

DEFAULT_SERVER = "http://127.0.0.1:8000"


@dataclass(frozen=True, slots=True)
class Config:
    """What the file says."""

    server: str | None = None
    tokens: dict[str, str] = field(default_factory=dict)


def config_path(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the file is, whether or not it exists. A relative XDG_CONFIG_HOME is ignored, as its specification asks."""
    named = environ.get("XDG_CONFIG_HOME", "")
    base = Path(named) if named.startswith("/") else Path.home() / ".config"
    return base / "gpujudge" / "config.json"


def load_config(path: Path) -> Config:
    """An absent file is an empty one. Raises UsageError when it cannot be understood."""
    try:
        raw = json.loads(path.read_text("utf-8"))
        tokens = {str(server): str(token) for server, token in raw.get("tokens", {}).items()}
        return Config(server=raw.get("server"), tokens=tokens)
    except FileNotFoundError:
        return Config()
    except (OSError, ValueError, AttributeError) as error:
        raise UsageError(f"cannot read {path}: {error}", hint="Mend or remove it, then `gpujudge login`.") from None


def save_config(path: Path, config: Config) -> None:
    """Replaces the file at once; it is never readable by others, not even while it is written."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    unfinished = path.with_suffix(f".{os.getpid()}.new")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump({"server": config.server, "tokens": config.tokens}, file, indent=2)
        file.write("\n")
    unfinished.replace(path)


def normal_server(url: str) -> str:
    """``url`` as tokens are kept by: with a scheme, without a slash at the end."""
    url = url.strip().rstrip("/")
    return url if "://" in url else f"http://{url}"


def resolve_server(given: str | None, environ: Mapping[str, str] = os.environ) -> str:
    """The option, or GPUJUDGE_SERVER, or the server of the last log-in, or the local one."""
    return normal_server(
        given or environ.get("GPUJUDGE_SERVER") or load_config(config_path(environ)).server or DEFAULT_SERVER
    )


def resolve_token(server: str, environ: Mapping[str, str] = os.environ) -> str | None:
    """GPUJUDGE_TOKEN, or the one kept for that very server: a token is never sent to another."""
    return environ.get("GPUJUDGE_TOKEN") or load_config(config_path(environ)).tokens.get(server)
