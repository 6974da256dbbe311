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
        {
            "challenge": "softmax",
            "device": "emulator",
            "mode": "submit",
            "source": kernel.read_text(),
            "language": "cuda",
        }
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
    assert "4.242 ms" in ended.stdout


def test_json_is_the_judgement_with_its_id_and_address(cli: Cli, server: FakeServer, kernel: Path) -> None:
    server.routes = {"POST submissions": status(), "GET submissions/abc/events": _stream((1, "done", {}))}
    server.routes["GET submissions/abc"] = _done("AC")
    url = "http://127.0.0.1:8000/submissions/abc"
    named = {"file": str(kernel), "id": "abc", "url": url}
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
    told = cli("submit", str(kernel), "--no-wait", "--json").json
    assert (told["state"], told["id"], told["file"]) == ("queued", "abc", str(kernel))


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


def test_several_files_are_lines_and_the_first_failure_is_the_exit_code(
    cli: Cli, server: FakeServer, kernel: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.cu"
    other.write_bytes(kernel.read_bytes())
    wrong = {**JUDGEMENT, "verdict": "WA"}
    server.routes = {
        "POST submissions": (
            status("done", verdict="AC", judgement=JUDGEMENT),
            status("done", id="abd", verdict="WA", judgement=wrong),
        )
    }
    done = cli("submit", str(kernel), str(other), "--json")
    assert done.exit_code == 10
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(one["event"], one["file"], one["id"], one.get("verdict")) for one in lines] == [
        ("accepted", str(kernel), "abc", None),
        ("accepted", str(other), "abd", None),
        ("judged", str(kernel), "abc", "AC"),
        ("judged", str(other), "abd", "WA"),
    ]


@pytest.fixture
def kernels(kernel: Path, tmp_path: Path) -> list[str]:
    others = [tmp_path / f"other-{number}.cu" for number in range(2)]
    for other in others:
        other.write_bytes(kernel.read_bytes())
    return [str(kernel), *map(str, others)]


def _limited(wait: str) -> httpx.Response:
    error = {"code": "rate_limited", "detail": "Too many submissions.", "nearest": []}
    return httpx.Response(429, json=error, headers={"Retry-After": wait})


def test_a_rate_limit_in_the_middle_is_waited_out(cli: Cli, server: FakeServer, kernels: list[str]) -> None:
    server.routes = {"POST submissions": (status(), _limited("7"), _limited("3"), status(id="abd"), status(id="abe"))}
    done = cli("submit", *kernels, "--no-wait", "--json")
    assert done.exit_code == 0
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == ["abc", "abd", "abe"]
    assert "Too many submissions. Going on in 7 s." in done.stderr
    keys = [request.headers["idempotency-key"] for request in server.requests]
    assert keys[1] == keys[2] == keys[3]
    assert len(set(keys)) == 3


def test_a_file_that_is_refused_costs_no_other_its_id(cli: Cli, server: FakeServer, kernels: list[str]) -> None:
    refused = httpx.Response(422, json={"code": "unknown", "detail": "There is no such device.", "nearest": ["h200"]})
    server.routes = {"POST submissions": (status(), refused, status(id="abe"))}
    done = cli("submit", *kernels, "--no-wait", "--json")
    assert done.exit_code == 2
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(line["event"], line["file"]) for line in lines] == list(
        zip(["accepted", "refused", "accepted"], kernels, strict=True)
    )
    assert lines[1]["error"] == "There is no such device."
    assert lines[1]["hint"] == "Nearest: h200."


def test_a_server_that_goes_away_loses_no_id(cli: Cli, server: FakeServer, kernels: list[str]) -> None:
    gone = httpx.ConnectError("Connection refused")
    server.routes = {"POST submissions": (status(), gone)}
    done = cli("submit", *kernels, "--no-wait", "--json")
    assert done.exit_code == 3
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == ["abc"]
    assert "cannot reach" in done.stderr


def test_a_command_repeated_under_one_key_sends_the_same_submissions(
    cli: Cli, server: FakeServer, kernels: list[str]
) -> None:
    server.routes = {"POST submissions": status()}
    for _ in range(2):
        cli("submit", *kernels, "--no-wait", "--retry-key", "monday")
    keys = [request.headers["idempotency-key"] for request in server.requests]
    assert keys[:3] == keys[3:]
    assert len(set(keys)) == 3, "each file is a submission of its own"
    cli("submit", *kernels, "--no-wait", "--retry-key", "tuesday")
    assert not {request.headers["idempotency-key"] for request in server.requests[6:]} & set(keys)


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
