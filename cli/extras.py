"""Commands that need more than the base install say which extra to install, rather than how an import failed."""

from __future__ import annotations

import importlib
from typing import Any

from cli.errors import UsageError


def need(module: str, extra: str) -> Any:
    """The module. Raises UsageError naming ``extra`` when something that it imports is not installed."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name or module
        if missing.partition(".")[0] in ("cli", "web", "workers", "store", "judge", "emulator"):
            raise
        raise UsageError(
            f"this command needs {missing}, which is not installed",
            hint=f"Install it with: pip install 'gpujudge[{extra}]'",
        ) from None
