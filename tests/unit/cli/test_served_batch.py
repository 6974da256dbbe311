"""``gpujudge batch``: what is sent once, what is waited for, and going on."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.unit.cli.conftest import JUDGEMENT, Cli, FakeServer, status


class Queue(FakeServer):
    """Accepts submissions, knows their keys, and judges each once it was asked for ``patience`` times."""

    def __init__(self, *, most: int = 10, patience: int = 1) -> None:
        super().__init__()
        self.most, self.patience = most, patience
        self.by_key: dict[str, str] = {}
        self.asked: Counter[str] = Counter()
        self.most_unfinished = 0
        self.must_log_in = False

    def unfinished(self) -> list[str]:
        return [number for number in self.by_key.values() if self.asked[number] < self.patience]

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if self.must_log_in:
            return self.refuse(401, "Log in.")
        path = request.url.path.removeprefix("/api/v1/")
        if path == "challenges":
            return httpx.Response(200, json={"challenges": [{"slug": "softmax"}]})
        if request.method == "POST":
            key = request.headers["Idempotency-Key"]
            body = json.loads(request.content)
            if body["challenge"] != "softmax":
                return self.refuse(404, "There is no such challenge.")
            if key not in self.by_key:
                if len(self.unfinished()) >= self.most:
                    return self.refuse(429, "Too many of yours wait.")
                self.by_key[key] = f"s{len(self.by_key)}"
                self.most_unfinished = max(self.most_unfinished, len(self.unfinished()))
            return httpx.Response(201, json=self.state(self.by_key[key]))
        if path == "submissions":
            newest = list(self.by_key.values())[-3:]
            self.asked.update(newest)
            return httpx.Response(200, json={"submissions": [self.state(number) for number in newest]})
        number = path.removeprefix("submissions/")
        self.asked[number] += 1
        return httpx.Response(200, json=self.state(number))

    def state(self, number: str) -> dict[str, Any]:
        if self.asked[number] < self.patience:
            return status("queued", id=number)
        return status("done", id=number, verdict="AC", judgement=JUDGEMENT)

    @staticmethod
    def refuse(code: int, detail: str) -> httpx.Response:
        return httpx.Response(code, json={"code": "refused", "detail": detail, "nearest": []})


@pytest.fixture
def server() -> FakeServer:
    return Queue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "kernels/softmax"
    made.mkdir(parents=True)
    for number in range(25):
        (made / f"{number:02}.cu").write_text(f"// {number}\n")
    return made.parent


def lines_of(out: Path) -> dict[str, dict[str, Any]]:
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    found = {Path(line["file"]).stem: line for line in lines}
    assert len(found) == len(lines)
    return found


def test_each_kernel_is_sent_once_and_gets_a_line(cli: Cli, server: Queue, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    ended = cli("batch", "submit", str(folder), "--jsonl", str(out), "--window", "20")
    assert ended.exit_code == 0, ended.stderr
    found = lines_of(out)
    assert len(found) == 25
    assert {line["verdict"] for line in found.values()} == {"AC"}
    assert len(server.by_key) == 25
    assert server.most_unfinished <= server.most
    assert len({line["submission"] for line in found.values()}) == 25
    told = cli("batch", "status", str(out), "--json")
    assert told.json == {"results": 25, "verdicts": {"AC": 25}}


def test_going_on_submits_nothing_twice(cli: Cli, server: Queue, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    argv = ("batch", "submit", str(folder), "--jsonl", str(out))
    assert cli(*argv).exit_code == 0
    # Killed before the last lines were written, and while one was.
    text = out.read_text().splitlines(keepends=True)
    out.write_text("".join(text[:10]) + text[10][:40])
    assert cli(*argv).exit_code == 0
    assert len(lines_of(out)) == 25
    assert len(server.by_key) == 25
    requests = len(server.requests)
    assert cli(*argv).exit_code == 0
    assert len(server.requests) == requests + 1  # the list of challenges


def test_what_has_changed_is_judged_again(cli: Cli, server: Queue, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    argv = ("batch", "submit", str(folder), "--jsonl", str(out))
    assert cli(*argv).exit_code == 0
    before = lines_of(out)["07"]["submission"]
    (folder / "softmax/07.cu").write_text("// another\n")
    assert cli(*argv).exit_code == 0
    assert lines_of(out)["07"]["submission"] != before
    assert len(server.by_key) == 26


@pytest.mark.usefixtures("server")
def test_what_the_server_refuses_has_a_line_and_the_rest_goes_on(cli: Cli, folder: Path, tmp_path: Path) -> None:
    (folder / "softmax/other.cu").write_text("// gpujudge: challenge=no-such\n")
    (folder / "softmax/junk.cu").write_bytes(b"\xff" * 100)
    out = tmp_path / "out.jsonl"
    ended = cli("batch", "submit", str(folder), "--jsonl", str(out))
    assert ended.exit_code == 2
    found = lines_of(out)
    assert (found["other"]["verdict"], found["other"]["message"]) == (None, "There is no such challenge.")
    assert found["junk"]["verdict"] == "AC"
    assert len(found) == 27


def test_without_a_log_in_nothing_is_written(cli: Cli, server: Queue, folder: Path, tmp_path: Path) -> None:
    server.must_log_in = True
    out = tmp_path / "out.jsonl"
    assert cli("batch", "submit", str(folder), "--jsonl", str(out)).exit_code == 4
    assert out.read_text() == ""


def test_status_of_what_is_no_file_of_results(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("my notes\n")
    assert cli("batch", "status", str(tmp_path / "notes")).exit_code == 2
    assert cli("batch", "status", str(tmp_path / "nowhere")).exit_code == 2
