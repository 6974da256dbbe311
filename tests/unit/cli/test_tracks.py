"""The command ``track``."""

from __future__ import annotations

import json
from typing import Any

import httpx

from tests.unit.cli.conftest import Cli, FakeServer

SUMMARY = {
    "slug": "first-kernels",
    "title": "First kernels",
    "summary": "Threads and data.",
    "reason": "Each needs the one before.",
    "challenges": ["vector-add", "relu"],
}


def step(challenge: str, **more: str) -> dict[str, Any]:
    told = {"title": challenge.title(), "difficulty": "easy", "teaches": "Indices.", "goal": "launches <= 1"}
    return {"challenge": challenge, **told, "goal_text": "at most 1 launch", "why": "So.", **more}


WHOLE = {**SUMMARY, "steps": [step("vector-add", lesson="Read *this*.", kernel="void solve() {}"), step("relu")]}


def test_it_lists_the_tracks(cli: Cli, server: FakeServer) -> None:
    server.routes = {"GET tracks": {"tracks": [SUMMARY]}}
    ended = cli("track")
    assert ended.exit_code == 0
    assert "first-kernels" in ended.stdout
    assert json.loads(cli("track", "--json").stdout) == {"tracks": [SUMMARY]}


def test_it_shows_a_track_with_ones_progress(cli: Cli, server: FakeServer) -> None:
    server.routes = {
        "GET tracks/first-kernels": WHOLE,
        "GET tracks/first-kernels/progress": {"solved": ["vector-add", "relu"], "reached": ["relu"]},
    }
    ended = cli("track", "first-kernels")
    rows = {line.split()[0]: line for line in ended.stdout.splitlines() if line.strip()}
    assert "solved" in rows["vector-add"]
    assert "goal reached" in rows["relu"]
    assert "at most 1 launch" in rows["relu"]
    assert json.loads(cli("track", "first-kernels", "--json").stdout)["reached"] == ["relu"]


def test_without_a_login_it_shows_the_track_alone(cli: Cli, server: FakeServer) -> None:
    refused = httpx.Response(401, json={"detail": "Send an API token.", "nearest": []})
    server.routes = {"GET tracks/first-kernels": WHOLE, "GET tracks/first-kernels/progress": refused}
    ended = cli("track", "first-kernels")
    assert ended.exit_code == 0
    assert "vector-add" in ended.stdout
    assert "gpujudge login" in ended.stderr


def test_it_prints_a_lesson_and_its_kernel(cli: Cli, server: FakeServer) -> None:
    server.routes = {"GET tracks/first-kernels": WHOLE}
    lesson = cli("track", "first-kernels", "vector-add")
    assert "Read *this*." in lesson.stdout
    assert "at most 1 launch" in lesson.stdout
    assert lesson.stderr.rstrip().endswith("--kernel > vector-add.cu")
    assert cli("track", "first-kernels", "vector-add", "--kernel").stdout.strip() == "void solve() {}"
    triton = {**WHOLE, "steps": [step("vector-add", lesson="Read.", kernel="def solve(): ...", language="triton")]}
    server.routes = {"GET tracks/first-kernels": triton}
    assert cli("track", "first-kernels", "vector-add").stderr.rstrip().endswith("--kernel > vector-add.py")


def test_what_is_not_there_is_said(cli: Cli, server: FakeServer) -> None:
    server.routes = {"GET tracks/first-kernels": WHOLE}
    ended = cli("track", "first-kernels", "softmax")
    assert ended.exit_code == 2
    assert "It has vector-add, relu." in ended.stderr
    ended = cli("track", "first-kernels", "relu")
    assert ended.exit_code == 2
    assert "no lesson for relu" in ended.stderr
    assert cli("track", "--kernel").exit_code == 2
