"""The command ``solutions``."""

from __future__ import annotations

import json
from typing import Any

import httpx

from tests.unit.cli.conftest import Cli, FakeServer

STEPS: list[dict[str, Any]] = [
    {
        "name": "plain",
        "change": "One thread for all.",
        "source": "// one\n",
        "modelled": None,
        "measured": {"time_s": 2e-4, "gain": None, "device": "NVIDIA H200"},
    },
    {
        "name": "tuned",
        "change": "Many threads.",
        "source": "// many\n",
        "modelled": {"time_s": 1e-5, "gain": None, "device": "NVIDIA H200"},
        "measured": {"time_s": 1e-4, "gain": 2.0, "device": "NVIDIA H200"},
    },
]
ONE = {
    "id": "abc", "username": "ada", "device": "nvidia-h200", "pack_version": "1.0.0", "value": 1.5e-4,
    "metric": "time_s", "likes": 3, "liked": False, "after_giving_up": True, "published_at": "2026-01-01T00:00:00Z",
}  # fmt: skip
ANSWER = {"challenge": "softmax", "steps": STEPS, "count": 1, "page": 1, "pages": 1, "next": None, "solutions": [ONE]}
PATH = "GET challenges/softmax/solutions"


def test_it_lists_steps_and_solutions(cli: Cli, server: FakeServer) -> None:
    server.routes = {PATH: ANSWER}
    rows = {line.split("\t")[0]: line for line in cli("solutions", "softmax").stdout.splitlines() if line}
    assert "10 µs" in rows["tuned"]
    assert "100 µs (2x)" in rows["tuned"]
    assert "ada" in rows["abc"]
    assert "after giving up" in rows["abc"]
    assert json.loads(cli("solutions", "softmax", "--json").stdout) == ANSWER


def test_it_says_that_nobody_has_published_one(cli: Cli, server: FakeServer) -> None:
    server.routes = {PATH: {**ANSWER, "solutions": []}}
    assert "Nobody has published" in cli("solutions", "softmax").stderr


def test_it_prints_one_source(cli: Cli, server: FakeServer) -> None:
    server.routes = {
        PATH: ANSWER,
        "GET challenges/softmax/solutions/abc/source": httpx.Response(200, content=b"// a\n"),
    }
    assert cli("solutions", "softmax", "tuned").stdout == "// many\n"
    assert cli("solutions", "softmax", "abc").stdout == "// a\n"
    assert json.loads(cli("solutions", "softmax", "abc", "--json").stdout) == {"name": "abc", "source": "// a\n"}


def test_what_is_closed_is_said(cli: Cli, server: FakeServer) -> None:
    told = {"detail": "Solutions are open to who has solved this challenge.", "nearest": []}
    server.routes = {PATH: httpx.Response(403, json=told)}
    ended = cli("solutions", "softmax")
    assert ended.exit_code != 0
    assert "Solutions are open to who has solved" in ended.stderr
