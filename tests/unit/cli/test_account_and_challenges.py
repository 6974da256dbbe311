"""login, challenges, show, init and leaderboard."""

from __future__ import annotations

import io
import json
import stat
from pathlib import Path

import httpx
import pytest

from tests.unit.cli.conftest import Cli, FakeServer

SOFTMAX = {
    "slug": "softmax",
    "title": "Softmax",
    "version": "1.0.0",
    "difficulty": "medium",
    "tags": ["reduction"],
    "statement": "Compute $e^x$.",
    "starter": 'extern "C" void solve() {}',
    "signature": "void solve()",
    "limits": {},
    "cases": [],
}


def test_login_keeps_the_token_for_its_server_only(
    cli: Cli, server: FakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server.routes = {"POST tokens": {"token": "secret"}, "GET me": {"username": "ada"}, "GET submissions": []}
    monkeypatch.setattr("sys.stdin", io.StringIO("pass word\n"))
    ended = cli("login", "--server", "http://judge.example/", "--username", "ada", "--password-stdin")
    assert ended.exit_code == 0
    assert ended.stdout == ""
    [body] = server.bodies("POST tokens")
    assert (body["username"], body["password"]) == ("ada", "pass word")
    path = tmp_path / "config/gpujudge/config.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text())["tokens"] == {"http://judge.example": "secret"}

    cli("submissions")
    assert server.requests[-1].url.host == "judge.example"
    assert server.requests[-1].headers["authorization"] == "Bearer secret"
    cli("submissions", "--server", "http://other.example")
    assert "authorization" not in server.requests[-1].headers


def test_the_environment_stands_above_the_file(cli: Cli, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.routes = {"GET me": {"username": "ada"}, "GET submissions": []}
    monkeypatch.setattr("sys.stdin", io.StringIO("kept\n"))
    assert cli("login", "--server", "http://judge.example", "--token-stdin").exit_code == 0
    monkeypatch.setenv("GPUJUDGE_SERVER", "http://env.example")
    monkeypatch.setenv("GPUJUDGE_TOKEN", "fromenv")
    cli("submissions")
    assert server.requests[-1].url.host == "env.example"
    assert server.requests[-1].headers["authorization"] == "Bearer fromenv"


def test_a_refused_login_keeps_nothing(
    cli: Cli, server: FakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    error = {"code": "unauthorized", "detail": "wrong username or password", "nearest": []}
    server.routes = {"POST tokens": httpx.Response(401, json=error)}
    monkeypatch.setattr("sys.stdin", io.StringIO("wrong\n"))
    assert cli("login", "-u", "ada", "--password-stdin").exit_code == 4
    assert not (tmp_path / "config").exists()


def test_a_broken_file_is_named(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "config/gpujudge").mkdir(parents=True)
    (tmp_path / "config/gpujudge/config.json").write_text("{")
    ended = cli("challenges")
    assert ended.exit_code == 2
    assert "config.json" in ended.stderr


def test_challenges(cli: Cli, server: FakeServer) -> None:
    server.routes = {"GET challenges": [SOFTMAX]}
    assert cli("challenges").stdout.splitlines()[1].split("\t")[:3] == ["softmax", "Softmax", "medium"]
    assert cli("challenges", "--json").json == {"challenges": [SOFTMAX]}


def test_challenges_that_a_search_finds(cli: Cli, server: FakeServer) -> None:
    server.routes = {"GET challenges": [SOFTMAX]}
    assert cli("challenges", "--search", "soft max").stdout.splitlines()[1].startswith("softmax")
    assert dict(server.requests[-1].url.params) == {"q": "soft max"}
    server.routes = {"GET challenges": []}
    assert "nothing found for 'zyzzyva'" in cli("challenges", "--search", "zyzzyva").stderr


def test_init_writes_a_file_that_submit_takes_and_never_overwrites(
    cli: Cli, server: FakeServer, tmp_path: Path
) -> None:
    server.routes = {"GET challenges/softmax": SOFTMAX}
    assert cli("init", "softmax", "work").exit_code == 0
    written = tmp_path / "work/softmax.cu"
    assert written.read_text() == '// gpujudge: challenge=softmax device=emulator\nextern "C" void solve() {}\n'
    assert "Compute $e^x$." in (tmp_path / "work/softmax.md").read_text()

    written.write_text("mine")
    ended = cli("init", "softmax", "work")
    assert ended.exit_code == 2
    assert written.read_text() == "mine"
    (tmp_path / "work/softmax.md").unlink()
    assert cli("init", "softmax", "work").exit_code == 2
    assert not (tmp_path / "work/softmax.md").exists()
    assert cli("init", "softmax", "work", "--force").exit_code == 0
    assert written.read_text() != "mine"


def test_init_does_not_write_where_a_server_says(cli: Cli, server: FakeServer, tmp_path: Path) -> None:
    server.routes = {"GET challenges/softmax": {**SOFTMAX, "slug": "../../evil"}}
    assert cli("init", "softmax", "work").exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == []


def test_leaderboard(cli: Cli, server: FakeServer) -> None:
    entry = {
        "rank": 1,
        "username": "ada",
        "metric": "time_s",
        "value": 0.00123,
        "gb_per_s": 3000.5,
        "gflop_per_s": None,
        "submission": "abc",
    }
    audited = {
        **entry,
        "low": 0.0012288,
        "high": 0.0012312,
        "roofline_share": 0.724,
        "medal": "gold",
        "language": "triton",
        "audited_at": "2026-01-02T03:04:05Z",
    }
    graph = {**entry, "username": "bob", "audited_at": None, "not_audited": "it uses cudaGraphLaunch"}
    headline = "right by luck on this GPU: race on shared memory, line 7"
    racy = {**entry, "username": "eve", "recheck": "found", "recheck_headline": headline}
    withheld = {**racy, "username": "kim", "not_audited": headline}
    server.routes = {"GET leaderboards/softmax": {"entries": [audited, entry, graph, racy, withheld]}}
    ended = cli("leaderboard", "softmax", "--device", "nvidia-h200")
    assert [line.split("\t") for line in ended.stdout.splitlines()[1:]] == [
        ["1", "ada", "1.23 ms", "1.229 to 1.231 ms", "72%", "gold", "triton", "3000", "", "2026-01-02", "", "abc"],
        ["1", "ada", "1.23 ms", "", "", "", "", "3000", "", "", "", "abc"],
        ["1", "bob", "1.23 ms", "", "", "", "", "3000", "", "not audited: it uses cudaGraphLaunch", "", "abc"],
        ["1", "eve", "1.23 ms", "", "", "", "", "3000", "", "", f"found: {headline}", "abc"],
        ["1", "kim", "1.23 ms", "", "", "", "", "3000", "", f"not audited: {headline}", "found", "abc"],
    ]
    assert server.requests[-1].url.params["device"] == "nvidia-h200"


@pytest.mark.parametrize("argv", [["nonsense"], ["submit"], ["submit", "a.cu", "--nonsense"]])
def test_usage(cli: Cli, argv: list[str]) -> None:
    assert cli(*argv).exit_code == 2


def test_whoami_and_logout(cli: Cli, server: FakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    server.routes = {"GET me": {"username": "ada"}}
    monkeypatch.setattr("sys.stdin", io.StringIO("kept\n"))
    assert cli("login", "--server", "http://judge.example", "--token-stdin").exit_code == 0
    assert cli("whoami").stdout == "ada on http://judge.example\n"
    assert cli("whoami", "--json").json == {"server": "http://judge.example", "username": "ada"}
    path = tmp_path / "config/gpujudge/config.json"
    assert cli("logout", "--json").json == {"server": "http://judge.example", "logged_out": True}
    assert json.loads(path.read_text()) == {"server": "http://judge.example", "tokens": {}, "drafts": {}}
    again = cli("logout")
    assert (again.exit_code, again.stderr) == (0, "There is no token for http://judge.example here.\n")


def test_init_tells_of_a_device_that_the_server_does_not_know(cli: Cli, server: FakeServer) -> None:
    server.routes = {"GET challenges/softmax": SOFTMAX, "GET devices": {"devices": [{"key": "nvidia-h200"}]}}
    done = cli("init", "softmax", "work", "--device", "nvidia-h20")
    assert done.exit_code == 0
    assert "the server knows no device nvidia-h20; it knows nvidia-h200" in done.stderr
