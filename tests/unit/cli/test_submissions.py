"""submit, run and watch: what is sent, what is shown where, and the exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from judge.verdict import Verdict
from tests.unit.cli.conftest import JUDGEMENT, Cli, FakeServer, status


def _stream(*events: tuple[int | None, str, dict[str, Any]]) -> httpx.Response:
    frames = []
    for seq, kind, payload in events:
        number = "" if seq is None else f"id: {seq}\n"
        data = payload if seq is None else {"seq": seq, "kind": kind, "payload": payload}
        frames.append(f"{number}event: {kind}\ndata: {json.dumps(data)}\n\n")
    return httpx.Response(200, text="".join(frames), headers={"content-type": "text/event-stream"})


def _done(verdict: str) -> dict[str, Any]:
    return status("done", verdict=verdict, judgement={**JUDGEMENT, "verdict": verdict})


def test_submit_follows_to_the_verdict(cli: Cli, server: FakeServer, kernel: Path) -> None:
    server.routes = {
        "POST submissions": status(),
        "GET submissions/abc/events": _stream(
            (None, "hello", {}),
            (None, "position", {"position": 3}),
            (1, "queued", {}),
            (2, "building", {}),
            (3, "built", {"wall_s": 0.8}),
            (4, "case", {"id": "n1", "verdict": "AC", "done": 1, "total": 2}),
            (5, "timing", {"done": 1, "total": 1}),
            (6, "done", {"verdict": "AC"}),
        ),
        "GET submissions/abc": _done("AC"),
    }
    ended = cli("submit", str(kernel))
    assert ended.exit_code == 0
    assert server.bodies("POST submissions") == [
        {"challenge": "softmax", "device": "emulator", "mode": "submit", "source": kernel.read_text()}
    ]
    assert ended.stderr.splitlines()[:6] == [
        "queued",
        "queued, at place 3",
        "building",
        "built in 0.8 s",
        "case 1/2 n1 AC",
        "timing 1/1",
    ]
    assert ended.stdout.startswith("AC  accepted\n")
    assert "1,234,567 warp instructions" in ended.stdout


def test_json_is_the_judgement_with_its_id_and_address(cli: Cli, server: FakeServer, kernel: Path) -> None:
    server.routes = {"POST submissions": status(), "GET submissions/abc/events": _stream((1, "done", {}))}
    server.routes["GET submissions/abc"] = _done("AC")
    named = {"id": "abc", "url": "/submissions/abc", "file": str(kernel)}
    assert cli("submit", str(kernel), "--json").json == JUDGEMENT | named


@pytest.mark.parametrize("verdict", list(Verdict))
def test_the_exit_code_says_the_verdict(cli: Cli, server: FakeServer, verdict: Verdict) -> None:
    server.routes = {"GET submissions/abc": _done(verdict.value)}
    assert cli("watch", "abc").exit_code == verdict.exit_code


def test_run_asks_for_the_public_cases(cli: Cli, server: FakeServer, kernel: Path) -> None:
    server.routes = {"POST submissions": _done("WA")}
    assert cli("run", str(kernel), "--device", "nvidia-h200").exit_code == 10
    [body] = server.bodies("POST submissions")
    assert (body["mode"], body["device"]) == ("run", "nvidia-h200")


_ALL_STREAMS_TAKEN = {"code": "too_many_streams", "detail": "Too many are followed live.", "nearest": []}


@pytest.mark.parametrize("refusal", [httpx.ReadTimeout("held back"), httpx.Response(503, json=_ALL_STREAMS_TAKEN)])
def test_polling_where_streams_do_not_come_through(cli: Cli, server: FakeServer, kernel: Path, refusal: Any) -> None:
    server.routes = {
        "POST submissions": status(),
        "GET submissions/abc/events": (
            refusal,
            [],
            [{"seq": 1, "kind": "building", "payload": {}}],
            httpx.ConnectError("restarting"),
            [
                {"seq": 2, "kind": "timing", "payload": {"id": None, "done": 0, "total": 0}},
                {"seq": 3, "kind": "done", "payload": {"verdict": "TLE"}},
            ],
        ),
        "GET submissions/abc": _done("TLE"),
    }
    ended = cli("submit", str(kernel))
    assert ended.exit_code == 13
    assert "building" in ended.stderr.splitlines()
    accepts = [request.headers["accept"] for request in server.requests if request.url.path.endswith("events")]
    assert accepts == ["text/event-stream"] + ["application/json"] * 4
    after = [request.url.params["after"] for request in server.requests if request.url.path.endswith("events")]
    assert after == ["0", "0", "0", "1", "1"]


def test_a_stream_that_breaks_off_goes_on_from_where_it_was(cli: Cli, server: FakeServer, kernel: Path) -> None:
    server.routes = {
        "POST submissions": status(),
        "GET submissions/abc/events": (
            _stream((1, "queued", {}), (2, "building", {})),
            _stream((2, "building", {}), (3, "done", {"verdict": "AC"})),
        ),
        "GET submissions/abc": _done("AC"),
    }
    ended = cli("submit", str(kernel))
    assert ended.exit_code == 0
    assert ended.stderr.splitlines().count("building") == 1


def test_no_wait_prints_the_id_alone(cli: Cli, server: FakeServer, kernel: Path) -> None:
    server.routes = {"POST submissions": status()}
    ended = cli("submit", str(kernel), "--no-wait")
    assert (ended.exit_code, ended.stdout) == (0, "abc\n")
    assert cli("submit", str(kernel), "--no-wait", "--json").json["state"] == "queued"


def test_a_request_without_an_answer_is_sent_again_under_the_same_key(
    cli: Cli, server: FakeServer, kernel: Path
) -> None:
    server.routes = {"POST submissions": (httpx.ReadError("reset"), _done("AC"))}
    assert cli("submit", str(kernel)).exit_code == 0
    keys = [request.headers["idempotency-key"] for request in server.requests]
    assert len(keys) == 2
    assert len(set(keys)) == 1
    cli("submit", str(kernel))
    assert server.requests[-1].headers["idempotency-key"] != keys[0]


def test_what_an_audit_found_is_told(cli: Cli, server: FakeServer) -> None:
    audit = {"verdict": "TI", "message": "less than the clock saw"}
    server.routes = {"GET submissions/abc": {**_done("AC"), "audit": audit}}
    ended = cli("watch", "abc")
    assert "An audit took it off the leaderboard, TI: less than the clock saw" in ended.stderr
    server.routes = {"GET submissions/abc": {**_done("AC"), "audit": {"verdict": "AC", "message": ""}}}
    assert "audit" not in cli("watch", "abc").stderr


def test_a_measured_time_comes_with_its_interval(cli: Cli, server: FakeServer) -> None:
    measured = {
        **JUDGEMENT["measurement"],
        **{"metric": "time_s", "value": 1.25e-4, "runs": 150},
        **{"low": 1.246e-4, "high": 1.254e-4, "roofline_share": 0.72},
    }
    server.routes = {
        "GET submissions/abc": status("done", verdict="AC", judgement={**JUDGEMENT, "measurement": measured})
    }
    shown = cli("watch", "abc").stdout
    assert "125 µs, 95 % within 124.6 to 125.4 µs over 150 runs, 72% of what this GPU can do for this task" in shown


def test_cancelled(cli: Cli, server: FakeServer) -> None:
    server.routes = {"GET submissions/abc": status("cancelled")}
    ended = cli("watch", "abc")
    assert ended.exit_code == 1
    assert "cancelled" in ended.stderr


@pytest.mark.parametrize(
    ("code", "exit_code"), [(400, 2), (401, 4), (403, 4), (404, 2), (413, 11), (422, 2), (429, 5), (500, 20), (503, 3)]
)
def test_errors_of_the_server(cli: Cli, server: FakeServer, kernel: Path, code: int, exit_code: int) -> None:
    body = {"code": "x", "detail": "no such challenge: sofmax", "nearest": ["softmax"]}
    server.routes = {"POST submissions": httpx.Response(code, json=body)}
    ended = cli("submit", str(kernel))
    assert ended.exit_code == exit_code
    assert ended.stdout == ""
    assert "no such challenge: sofmax" in ended.stderr
    assert "Nearest: softmax." in ended.stderr


def test_no_server(cli: Cli, server: FakeServer, kernel: Path) -> None:
    server.routes = {"POST submissions": httpx.ConnectError("Connection refused")}
    ended = cli("submit", str(kernel), "--server", "judge.example")
    assert ended.exit_code == 3
    assert "cannot reach http://judge.example: Connection refused" in ended.stderr


def test_a_file_that_names_no_challenge(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bare.cu").write_text("void f();\n")
    ended = cli("submit", "bare.cu")
    assert ended.exit_code == 2
    assert "--challenge" in ended.stderr
    assert cli("submit", "missing.cu").exit_code == 2


def test_control_characters_do_not_reach_the_terminal(cli: Cli, server: FakeServer) -> None:
    judgement = {
        **JUDGEMENT,
        "verdict": "CE",
        "build": {**JUDGEMENT["build"], "log": "kernel.cu(1): \x1b]0;x\x07 error"},
    }
    server.routes = {"GET submissions/abc": status("done", verdict="CE", judgement=judgement)}
    ended = cli("watch", "abc")
    assert "kernel.cu(1): ]0;x error" in ended.stdout
    assert "\x1b" not in ended.stdout


def test_list(cli: Cli, server: FakeServer) -> None:
    server.routes = {"GET submissions": [status("building"), _done("AC")]}
    server.routes["GET submissions"] = {"submissions": server.routes["GET submissions"]}
    lines = cli("submissions", "--challenge", "softmax").stdout.splitlines()
    assert lines[0].split("\t")[:2] == ["id", "challenge"]
    assert [line.split("\t")[4] for line in lines[1:]] == ["building", "AC"]
    assert server.requests[-1].url.params["challenge"] == "softmax"


def test_a_file_that_is_no_utf_8_is_the_compilers_to_refuse(cli: Cli, server: FakeServer, tmp_path: Path) -> None:
    server.routes = {"POST submissions": status()}
    (tmp_path / "latin.cu").write_bytes(b"// gpujudge: challenge=softmax\n// \xe9\n")
    assert cli("submit", "latin.cu", "--no-wait").exit_code == 0
    assert server.bodies("POST submissions")[0]["source"].encode("utf-8", "surrogateescape").endswith(b"// \xe9\n")


def test_a_source_that_is_too_large_is_a_compile_error(cli: Cli, server: FakeServer, kernel: Path) -> None:
    error = {"code": "too_large", "detail": "The source has 300,000 bytes.", "nearest": []}
    server.routes = {"POST submissions": httpx.Response(413, json=error)}
    ended = cli("submit", str(kernel))
    assert (ended.exit_code, ended.stderr) == (11, "error: The source has 300,000 bytes.\n")


def test_faults_of_accepted_cases_are_shown(cli: Cli, server: FakeServer) -> None:
    fault = {
        "kind": "out-of-bounds read", "message": "it reaches 4 bytes past the end of A", "kernel": "add",
        "file": "kernel.cu", "line": 3, "thread": [1, 0, 0], "block": [2, 0, 0],
    }  # fmt: skip
    judgement = {**JUDGEMENT, "cases": [{**JUDGEMENT["cases"][0], "memory_errors": [fault]}]}
    server.routes = {"GET submissions/abc": status("done", verdict="AC", judgement=judgement)}
    shown = cli("watch", "abc").stdout
    assert "1 accepted case touched memory outside the buffers; in n1:" in shown
    assert "kernel.cu:3: it reaches 4 bytes past the end of A (thread (1, 0, 0) of block (2, 0, 0))" in shown


def test_a_race_in_an_accepted_case_is_called_one(cli: Cli, server: FakeServer) -> None:
    fault = {
        "kind": "race on shared memory", "message": "it writes byte 0 of tile", "kernel": "add",
        "file": "kernel.cu", "line": 3, "thread": [1, 0, 0], "block": [2, 0, 0],
    }  # fmt: skip
    judgement = {**JUDGEMENT, "cases": [{**JUDGEMENT["cases"][0], "memory_errors": [fault]}]}
    server.routes = {"GET submissions/abc": status("done", verdict="AC", judgement=judgement)}
    assert "1 accepted case showed a race; in n1:" in cli("watch", "abc").stdout


def test_the_map_of_a_wrong_output_is_drawn(cli: Cli, server: FakeServer) -> None:
    mismatch = {
        "output": "C", "indices": [[1, 0]], "expected": [1.0], "got": [0.0], "count": 2, "total": 6,
        "max_abs_error": 1.0, "max_rel_error": 1.0, "map": {"height": 2, "width": 3, "cells": ["000", "990"]},
    }  # fmt: skip
    case = {**JUDGEMENT["cases"][0], "verdict": "WA", "mismatch": mismatch}
    judgement = {**JUDGEMENT, "verdict": "WA", "cases": [case], "measurement": None}
    server.routes = {"GET submissions/abc": status("done", verdict="WA", judgement=judgement)}
    lines = [line.strip() for line in cli("watch", "abc").stdout.splitlines()]
    at = lines.index("map of C (2 × 3): . right, 9 all wrong")
    assert lines[at + 1 : at + 3] == ["...", "99."]


def test_nothing_is_told_twice(cli: Cli, server: FakeServer) -> None:
    message = "C[0] is 0.0, expected 1.0; 4 of 4 elements differ"
    mismatch = {
        "output": "C", "indices": [[0]], "expected": [1.0], "got": [0.0], "count": 4, "total": 4,
        "max_abs_error": 1.0, "max_rel_error": 1.0, "message": message,
    }  # fmt: skip
    case = {**JUDGEMENT["cases"][0], "verdict": "WA", "message": message, "mismatch": mismatch}
    cases = [{**case, "id": f"n{number}"} for number in range(5)]
    judgement = {**JUDGEMENT, "verdict": "WA", "message": message, "cases": cases, "measurement": None}
    server.routes = {"GET submissions/abc": status("done", verdict="WA", judgement=judgement)}
    lines = cli("watch", "abc").stdout.splitlines()
    assert [line.strip() for line in lines].count(message) == 3  # once for each of the first cases
    assert sum("WA  n" in line for line in lines) == 5
    log = 'kernel.cu(3): error: expected a ";"'
    judgement = {**JUDGEMENT, "verdict": "CE", "message": log, "cases": [], "measurement": None}
    judgement["build"] = {**JUDGEMENT["build"], "ok": False, "log": log}
    server.routes = {"GET submissions/abc": status("done", verdict="CE", judgement=judgement)}
    assert cli("watch", "abc").stdout.count(log) == 1


def _copies(kernel: Path, count: int) -> list[str]:
    names = [kernel.with_name(f"kernel{number}.cu") for number in range(count)]
    for each in names:
        each.write_bytes(kernel.read_bytes())
    return [str(each) for each in names]


def _lines(stdout: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stdout.splitlines()]


def test_several_files_are_lines_and_the_exit_code_is_the_worst(cli: Cli, server: FakeServer, kernel: Path) -> None:
    files = _copies(kernel, 3)
    verdicts = ("WA", "IE", "AC")
    server.routes = {
        "POST submissions": tuple(
            status("done", id=f"id{n}", url=f"/s/{n}", verdict=each, judgement={**JUDGEMENT, "verdict": each})
            for n, each in enumerate(verdicts)
        )
    }
    done = cli("submit", *files, "--json")
    assert done.exit_code == 20
    told = _lines(done.stdout)
    assert [(one["event"], one["file"], one["id"], one["url"]) for one in told] == [
        (event, file, f"id{n}", f"/s/{n}") for event in ("accepted", "judged") for n, file in enumerate(files)
    ]
    assert [one["verdict"] for one in told[3:]] == list(verdicts)


def test_a_rate_limit_is_waited_out_under_the_same_key(cli: Cli, server: FakeServer, kernel: Path) -> None:
    files = _copies(kernel, 2)
    refusal = httpx.Response(429, json={"detail": "That was too often."}, headers={"Retry-After": "7"})
    server.routes = {"POST submissions": (status(id="id0"), refusal, refusal, status(id="id1"))}
    done = cli("submit", *files, "--no-wait", "--json")
    assert done.exit_code == 0
    assert [(one["id"], one["file"]) for one in _lines(done.stdout)] == [("id0", files[0]), ("id1", files[1])]
    assert done.stderr.count("It is sent again in 7 s.") == 2
    keys = [request.headers["idempotency-key"] for request in server.requests]
    assert keys[1] == keys[2] == keys[3] != keys[0]


@pytest.mark.parametrize(("ending", "exit_code"), [(KeyboardInterrupt(), 130), (httpx.ConnectError("refused"), 3)])
def test_what_ends_the_sending_loses_no_accepted_id(
    cli: Cli,
    server: FakeServer,
    kernel: Path,
    monkeypatch: pytest.MonkeyPatch,
    ending: BaseException,
    exit_code: int,
) -> None:
    files = _copies(kernel, 4)

    def answer(request: httpx.Request) -> httpx.Response:
        server.requests.append(request)
        if len(server.requests) > 2:
            raise ending
        return httpx.Response(200, json=status(id=f"id{len(server.requests)}"))

    monkeypatch.setattr(FakeServer, "__call__", lambda _self, request: answer(request))
    done = cli("submit", *files, "--json")
    assert done.exit_code == exit_code
    assert [one["id"] for one in _lines(done.stdout)] == ["id1", "id2"]
    assert "Accepted: id1 id2" in done.stderr
    assert f"Not known to be accepted: {files[2]} {files[3]}" in done.stderr


def test_a_file_that_is_refused_does_not_keep_others_back(cli: Cli, server: FakeServer, kernel: Path) -> None:
    files = _copies(kernel, 3)
    refusal = httpx.Response(422, json={"detail": "The source is empty."})
    server.routes = {"POST submissions": (status(id="id0"), refusal, status(id="id2"))}
    done = cli("submit", *files, "--no-wait", "--json")
    assert done.exit_code == 2
    told = _lines(done.stdout)
    assert [(one["event"], one["file"]) for one in told] == [
        ("accepted", files[0]), ("refused", files[1]), ("accepted", files[2]),
    ]  # fmt: skip
    assert told[1]["error"] == "The source is empty."


def test_nothing_is_sent_where_one_file_cannot_be_read(cli: Cli, server: FakeServer, kernel: Path) -> None:
    done = cli("submit", str(kernel), "nowhere.cu")
    assert (done.exit_code, done.stderr) == (2, "error: cannot read nowhere.cu: No such file or directory\n")
    assert not server.requests


@pytest.mark.parametrize(("cancelled", "exit_code"), [(True, 0), (False, 1)])
def test_cancel(cli: Cli, server: FakeServer, cancelled: bool, exit_code: int) -> None:
    server.routes = {"POST submissions/abc/cancel": {"cancelled": cancelled}}
    done = cli("cancel", "abc", "--json")
    assert done.exit_code == exit_code
    assert done.json == {"id": "abc", "cancelled": cancelled}


def test_source_is_printed_as_it_was_sent(cli: Cli, server: FakeServer) -> None:
    server.routes = {"GET submissions/abc/source": httpx.Response(200, content=b"// \xc3\xa9\r\n")}
    assert cli("source", "abc", "--json").json == {"id": "abc", "source": "// \u00e9\r\n"}


def test_open_takes_an_address_and_prints_one(cli: Cli, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    server.routes = {"GET submissions/abc": status("done")}
    done = cli("open", "http://127.0.0.1:8000/submissions/abc")
    assert (done.exit_code, done.stdout) == (0, "http://127.0.0.1:8000/submissions/abc\n")
    assert opened == ["http://127.0.0.1:8000/submissions/abc"]


def test_a_wrong_element_is_shown_with_what_was_allowed(cli: Cli, server: FakeServer) -> None:
    mismatch = {
        "output": "C", "indices": [[0], [1]], "expected": [1.0, 2.0], "got": [1.5, "nan"], "count": 2, "total": 2,
        "max_abs_error": 0.5, "max_rel_error": 0.5, "message": "", "allowed": [0.125, 0.125],
    }  # fmt: skip
    case = {**JUDGEMENT["cases"][0], "verdict": "WA", "mismatch": mismatch}
    judgement = {**JUDGEMENT, "verdict": "WA", "cases": [case]}
    server.routes = {"GET submissions/abc": status("done", verdict="WA", judgement=judgement)}
    shown = cli("watch", "abc").stdout
    assert "C[0]: expected 1.0, got 1.5 (off by 0.5, allowed 0.125: 4 times as much)\n" in shown
    assert "C[1]: expected 2.0, got nan\n" in shown
