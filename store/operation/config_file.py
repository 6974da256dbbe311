"""Reads ``gpujudge.toml``: the settings of the environment in a file, by their names without ``GPUJUDGE_``.

    data_dir = "data"
    sign_up = "invitation"
    pack_paths = ["challenges", "/srv/more"]

The file is the one that ``GPUJUDGE_CONFIG`` names, or else ``gpujudge.toml`` in the working folder. Its paths are
relative to its own folder. A variable of the environment goes before the file. Settings of the file become variables of
this process, so that the processes that it starts have them, too.
"""

from __future__ import annotations

import json
import os
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

from store.operation.environment import PREFIX, SETTINGS, SettingsProblem, nearest

NAME = "gpujudge.toml"
#: The environment variable that names another file.
VARIABLE = "GPUJUDGE_CONFIG"
_PATHS = frozenset(("DATA_DIR", "LOCKS_DIR", "NVCC", "PACK_PATHS"))
_REMEDY = "Correct it, and try again: gpujudge config check"


def config_file(environ: MutableMapping[str, str], folder: Path) -> Path | None:
    """Returns the file of settings, None if there is none. Raises SettingsProblem if the environment's is missing."""
    named = environ.get(VARIABLE)
    path = folder / (Path(named).expanduser() if named else NAME)
    if path.is_file():
        return path
    if named:
        raise SettingsProblem(f"{VARIABLE}: there is no file {path}", f"For example: {VARIABLE}=/etc/gpujudge/{NAME}")
    return None


def read_config(path: Path) -> dict[str, str]:
    """Returns the file's settings as variables of the environment. Raises SettingsProblem, which names each mistake."""
    import tomllib

    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsProblem(f"{path}: {error}", 'For example: sign_up = "invitation"') from None
    unknown = [name for name in content if name.upper() not in SETTINGS]
    if unknown:
        raise SettingsProblem("; ".join(f"{path}: {_unknown(name)}" for name in unknown), _REMEDY)
    return {PREFIX + name.upper(): _text(name.upper(), value, path.parent) for name, value in content.items()}


def apply_config(environ: MutableMapping[str, str], folder: Path | None = None) -> frozenset[str]:
    """Sets the variables of the file that ``environ`` has not, and returns their names. Raises SettingsProblem.

    ``folder`` None: the working folder.
    """
    path = config_file(environ, folder or Path.cwd())
    if path is None:
        return frozenset()
    given = {name.upper() for name in environ}
    missing = {name: text for name, text in read_config(path).items() if name not in given}
    environ.update(missing)
    return frozenset(missing)


def _unknown(name: str) -> str:
    near = nearest(name)
    meant = near.removeprefix(PREFIX).lower() if near else None
    hint = f": do you mean {meant}?" if meant and meant.upper() in SETTINGS else ""
    return f"there is no setting {name}{hint}"


def _text(name: str, value: Any, folder: Path) -> str:
    """Returns a value as the environment has it."""
    if name in _PATHS:
        paths = value if isinstance(value, list) else [value]
        return os.pathsep.join(str(folder / Path(str(path)).expanduser()) for path in paths)
    if isinstance(value, bool | list | dict):
        return json.dumps(value)
    return str(value)
