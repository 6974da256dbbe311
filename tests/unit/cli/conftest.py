"""A server that answers from a table, and the command line run in this process against it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from cli import main as cli_main
from cli.api import Api

Handler = Callable[[httpx.Request], httpx.Response]

JUDGEMENT: dict[str, Any] = {
    "schema_version": 3,
    "verdict": "AC",
    "challenge": "softmax",
    "pack_version": "1.0.0",
    "device": {
        "key": "emulator",
        "kind": "emulator",
        "name": "CUDA emulator",
        "compute_capability": "8.0",
        "details": {},
    },
    "build": {"ok": True, "wall_s": 0.81, "log": "", "registers": 18, "spills": 0, "kernels": [], "cached": False},
    "cases": [
        {
            "id": "n1",
            "group": "sample",
            "verdict": "AC",
            "wall_s": 0.01,
            "message": "",
            "mismatch": None,
            "memory_errors": [],
        }
    ],
    "measurement": {
        "metric": "modelled_time_s",
        "value": 4.242e-3,
        "median_s": None,
        "spread": 0.0,
        "runs": 1,
        "gb_per_s": None,
        "gflop_per_s": None,
        "cases": [],
    },
    "message": "",
    "wall_s": 2.0,
}


def status(state: str = "queued", **changes: Any) -> dict[str, Any]:
    """A status object as the API gives it."""
    return {
        "id": "abc",
        "challenge": "softmax",
        "pack_version": "1.0.0",
        "device": "emulator",
        "mode": "submit",
        "state": state,
        "position": None,
        "verdict": None,
        "created_at": "2026-01-01T00:00:00Z",
        "finished_at": None,
        "url": "/submissions/abc",
        "judgement": None,
        **changes,
    }


@dataclass
class FakeServer:
    """``routes`` maps ``METHOD path`` (below /api/v1/) to an answer, or to a tuple of answers, one for each request."""

    routes: dict[str, Any] = field(default_factory=dict)
    requests: list[httpx.Request] = field(default_factory=list)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        key = f"{request.method} {request.url.path.removeprefix('/api/v1/')}"
        answer = self.routes.get(key)
        if isinstance(answer, tuple):
            self.routes[key] = answer[1:] or answer
            answer = answer[0]
        if answer is None:
            return httpx.Response(404, json={"code": "not_found", "detail": f"no {key}", "nearest": []})
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, httpx.Response):
            return answer
        return httpx.Response(200, json=answer)

    def bodies(self, key: str) -> list[Any]:
        """Returns the bodies posted to ``METHOD path``."""
        method, path = key.split(" ", 1)
        return [
            json.loads(request.content)
            for request in self.requests
            if request.method == method and request.url.path == f"/api/v1/{path}"
        ]


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """The standard output as the one JSON value that it must be."""
        return json.loads(self.stdout)


Cli = Callable[..., Outcome]


@pytest.fixture
def server() -> FakeServer:
    return FakeServer()


@pytest.fixture
def cli(server: FakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs ``gpujudge ARGS`` through the real entry point; every request goes to ``server``, no wait takes time."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("GPUJUDGE_SERVER", "GPUJUDGE_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)

    def make_api(url: str, token: str | None) -> Api:
        return Api(url, token, transport=httpx.MockTransport(server), sleep=lambda _wait_s: None)

    monkeypatch.setattr("cli.connect.Api", make_api)
    monkeypatch.setattr("cli.commands.account.Api", make_api)

    def run(*argv: str) -> Outcome:
        monkeypatch.setattr("sys.argv", ["gpujudge", *argv])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli_main.main()
        captured = capsys.readouterr()
        code = ended.value.code
        return Outcome(code if isinstance(code, int) else 0, captured.out, captured.err)

    return run


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.cu"
    path.write_text('// gpujudge: challenge=softmax device=emulator\nextern "C" void solve() {}\n')
    return path
