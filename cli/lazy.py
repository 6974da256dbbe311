"""A group of commands whose modules are imported only when one of them is run."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_command_name

from records import dataclass


@dataclass(frozen=True, slots=True)
class LazyCommand:
    """A command, or a group of them, at ``module:name``. ``summary`` is the first sentence of its help."""

    target: str
    summary: str
    context: Mapping[str, Any] = field(default_factory=dict)

    def load(self, name: str) -> Any:
        """Imports the command."""
        module, _, attribute = self.target.partition(":")
        found = getattr(importlib.import_module(module), attribute)
        if not isinstance(found, typer.Typer):
            alone = typer.Typer(add_completion=False, rich_markup_mode=None)
            alone.command(get_command_name(name), context_settings=dict(self.context) or None)(found)
            found = alone
        command = get_command(found)
        command.name = name
        return command


class LazyGroup(TyperGroup):
    """Shows its commands from the table alone. A subclass sets ``table``."""

    table: ClassVar[Mapping[str, LazyCommand]] = {}

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # Only the names are read of it: to suggest the one that was meant.
        self.commands = dict.fromkeys(self.table)  # type: ignore[assignment]

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - Typer's signature
        """Returns the names, in the table's order."""
        return list(self.table)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - Typer's signature
        """Imports a command. Returns None if there is none of that name."""
        entry = self.table.get(cmd_name)
        return None if entry is None else entry.load(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - Typer's signature
        """Writes the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in self.table.items()])
