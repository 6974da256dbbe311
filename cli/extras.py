"""Imports of optional packages, whose failure names the extra to install."""

from __future__ import annotations

import importlib
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
        if missing.partition(".")[0] in ("cli", "web", "workers", "store", "logs", "judge", "emulator"):
            raise
        raise MissingExtra(
            f"this command needs {missing}, which is not installed",
            hint=f"In a clone of gpujudge: pipx install --force '.[{extra}]', or pip install '.[{extra}]' in an "
            "environment of your own.",
        ) from None
