"""``gpujudge emulate`` is ``python -m emulator`` with the folders of the judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.app import app
from emulator.standalone import command


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[command.Settings]:
    """Notes the program that the emulator was asked to run; it ends with 7."""
    settings: list[command.Settings] = []

    def run(given: command.Settings) -> int:
        settings.append(given)
        return 7

    monkeypatch.setattr(command, "run", run)
    return settings


def _emulate(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["emulate", *arguments])


def test_what_follows_the_program_is_its_own(ran: list[command.Settings], tmp_path: Path) -> None:
    done = _emulate("--data-dir", str(tmp_path), "./prog", "--format=json", "-o", "x", "--help")

    assert done.exit_code == 7
    (settings,) = ran
    assert settings.command == ("./prog", "--format=json", "-o", "x", "--help")
    assert settings.cache == tmp_path / "emulator"
    assert settings.format == "text"


def test_options(ran: list[command.Settings], tmp_path: Path) -> None:
    options = (
        *("--format", "json", "-o", "report", "--check", "full", "--profile", "--gpu", "h200", "--memory", "512M"),
        *("--time-limit", "2.5", "--instruction-limit", "1000", "--schedule", "-3", "--threads", "2"),
        *("--cache", str(tmp_path), "--error-exitcode", "9", "--data-dir", str(tmp_path)),
    )
    _emulate(*options, "prog")

    assert ran == [
        command.Settings(
            command=("prog",),
            format="json",
            output=Path("report"),
            check="full",
            profile=True,
            gpu="h200",
            memory_bytes=512 << 20,
            wall_s=2.5,
            warp_instructions=1000,
            schedule=-3,
            cache=tmp_path,
            threads=2,
            error_exitcode=9,
        )
    ]


@pytest.mark.parametrize(
    "options",
    [
        ("--memory", "3X"),
        ("--time-limit", "-1"),
        ("--gpu", "voodoo2"),
        ("--threads", "0"),
        ("--check", "some"),
        ("--format", "xml"),
    ],
)
def test_mistakes_in_the_options(ran: list[command.Settings], options: tuple[str, str]) -> None:
    assert _emulate(*options, "prog").exit_code == 2
    assert not ran
