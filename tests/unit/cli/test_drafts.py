"""The commands ``pull`` and ``push``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx

from tests.unit.cli.conftest import Cli, FakeServer

PATH = "challenges/softmax/draft"


def draft(version: int, source: str = "// mine\n") -> dict[str, Any]:
    saved_at = "2026-01-01T00:00:00Z" if version else None
    return {"challenge": "softmax", "version": version, "saved_at": saved_at, "source": source}


def test_it_pulls_edits_and_pushes(cli: Cli, server: FakeServer, tmp_path: Path) -> None:
    server.routes = {f"GET {PATH}": draft(3), f"PUT {PATH}": draft(4, "// better\n")}
    cli("pull", "softmax")
    assert (tmp_path / "softmax.cu").read_text() == "// mine\n"
    (tmp_path / "softmax.cu").write_text("// better\n")
    assert "Saved as version 4" in cli("push", "softmax.cu").stderr
    assert json.loads(server.requests[-1].content) == {"source": "// better\n", "base": 3, "language": "cuda"}


def test_what_was_saved_elsewhere_is_not_overwritten_unseen(cli: Cli, server: FakeServer) -> None:
    theirs = draft(5, "// theirs\n")
    server.routes = {f"GET {PATH}": (draft(3), theirs), f"PUT {PATH}": draft(6)}
    cli("pull", "softmax")
    refused = cli("push", "softmax.cu")
    assert refused.exit_code == 2
    assert "the website has version 5 of this draft, and here it was version 3 last" in refused.stderr
    assert [request.method for request in server.requests] == ["GET", "GET"]
    cli("push", "softmax.cu", "--force")
    assert json.loads(server.requests[-1].content)["base"] == 5


def test_a_first_push_takes_the_challenge_from_the_file(cli: Cli, server: FakeServer, tmp_path: Path) -> None:
    server.routes = {f"GET {PATH}": draft(0, ""), f"PUT {PATH}": draft(1)}
    (tmp_path / "other.cu").write_text("// gpujudge: challenge=softmax\n")
    assert json.loads(cli("push", "other.cu", "--json").stdout) == {
        "challenge": "softmax",
        "version": 1,
        "file": "other.cu",
    }


def test_a_file_that_differs_is_kept(cli: Cli, server: FakeServer, tmp_path: Path) -> None:
    server.routes = {f"GET {PATH}": draft(3)}
    (tmp_path / "softmax.cu").write_text("// older\n")
    assert "would be overwritten" in cli("pull", "softmax").stderr
    assert (tmp_path / "softmax.cu").read_text() == "// older\n"
    cli("pull", "softmax", "--force")
    assert (tmp_path / "softmax.cu").read_text() == "// mine\n"
    assert cli("pull", "softmax", "-").stdout == "// mine\n"


def test_it_says_that_there_is_no_draft(cli: Cli, server: FakeServer) -> None:
    server.routes = {f"GET {PATH}": draft(0, "")}
    assert "you have no draft for softmax" in cli("pull", "softmax").stderr


def test_a_conflict_at_the_last_moment_is_told(cli: Cli, server: FakeServer, tmp_path: Path) -> None:
    problem = httpx.Response(409, json={"title": "conflict", "detail": "The draft was saved elsewhere."})
    server.routes = {f"GET {PATH}": draft(0, ""), f"PUT {PATH}": problem}
    (tmp_path / "softmax.cu").write_text("// mine\n")
    assert "saved elsewhere" in cli("push", "softmax.cu").stderr
