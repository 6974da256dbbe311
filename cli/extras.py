"""Imports of optional packages, whose failure names the extra to install."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Any

from cli.errors import UsageError


class MissingExtra(UsageError):
    """A package that the command needs is not installed."""


def need(module: str, extra: str) -> Any:
    """Imports a module and returns it. Raises MissingExtra, naming ``extra``, if a package is not installed."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name or module
        if missing.partition(".")[0] in ("cli", "web", "workers", "store", "logs", "judge", "emulator", "records"):
            raise
        raise _missing(missing, extra) from None


def need_installed(*packages: str, extra: str) -> None:
    """Raises MissingExtra, naming ``extra``, unless all packages are installed. Imports none of them."""
    for package in packages:
        if not is_installed(package):
            raise _missing(package, extra)


def is_installed(package: str) -> bool:
    """Returns whether a package can be imported. Imports nothing."""
    try:
        return find_spec(package) is not None
    except ImportError:
        return False


def _missing(package: str, extra: str) -> MissingExtra:
    return MissingExtra(
        f"this command needs {package}, which is not installed",
        hint=f"In a clone of gpujudge: pipx install --force '.[{extra}]', or pip install '.[{extra}]' in an "
        "environment of your own.",
    )
