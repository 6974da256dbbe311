"""The list of commands is made without importing them, and says of each what its own help says."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from cli.app import Commands, app
from judge import __version__
from tests.builds import ROOT
from tests.unit.cli.conftest import Cli


@pytest.mark.parametrize("name", list(Commands.table))
def test_the_list_says_what_the_command_says(name: str) -> None:
    group = typer.main.get_command(app)
    command = group.get_command(None, name)  # type: ignore[attr-defined]
    assert command.name == name
    # Some say more, after a comma, a semicolon or a colon, or in brackets.
    said = " ".join(str(command.help).split())
    assert said.startswith(Commands.table[name].summary.rstrip(".")), said


def test_options_are_in_lower_case_with_any_typer() -> None:
    # Some releases name an option by its metavar, if the two are the same word and the option has no other name.
    def options(command: Any, path: str = "gpujudge") -> Iterator[str]:
        for each in command.params:
            yield from (f"{path} {name}" for name in each.opts if name.startswith("--"))
        if hasattr(command, "list_commands"):
            context = command.context_class(command)
            for name in command.list_commands(context):
                yield from options(command.get_command(context, name), f"{path} {name}")

    found = list(options(typer.main.get_command(app)))
    assert len(found) > 400
    assert [each for each in found if each != each.lower()] == []


def test_help_imports_no_command(cli: Cli) -> None:
    shown = cli("--help").stdout
    for name in Commands.table:
        assert f"\n  {name} " in shown
    code = "import sys, cli.app; cli.app.app(['-h'], standalone_mode=False); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    modules = set(done.stderr.split())
    assert not modules & {"rich", "httpx", "pydantic", "numpy", "cli.api", "judge.judgement"}
    assert not [name for name in modules if name.startswith("cli.commands.")]


@pytest.mark.parametrize("module", ["cli.commands.local", "cli.commands.packs", "cli.commands.emulation"])
def test_what_works_without_a_server_imports_no_client(module: str) -> None:
    code = f"import sys, {module}; print('httpx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "False\n"


def test_the_version(cli: Cli) -> None:
    done = cli("--version")
    assert (done.exit_code, done.stdout) == (0, f"gpujudge {__version__}\n")


def test_a_name_that_is_nearly_right(cli: Cli) -> None:
    done = cli("chalenges")
    assert done.exit_code == 2
    assert "Did you mean 'challenges'?" in done.stderr
