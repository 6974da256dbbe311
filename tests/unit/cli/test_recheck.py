"""The emulator checks submissions that a GPU accepted: by ``judge`` here, and in the server's report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli.commands import local
from judge import pipeline, rechecking
from judge.errors import InternalError
from judge.judgement import BuildReport, CaseJudgement, DeviceInfo, Judgement, MemoryFault, RacingAccess
from judge.judgement_json import to_json
from judge.recheck import Recheck, conclude, unchecked
from judge.verdict import Verdict
from tests.unit.cli.conftest import JUDGEMENT, Cli, FakeServer, status

GPU = DeviceInfo("nvidia-h200", "cuda", "NVIDIA H200", "9.0")
OTHER = RacingAccess("kernel.cu", 44, (1, 0, 0), (0, 0, 0), is_write=True)
RACE = MemoryFault("race on shared memory", "race at kernel.cu:39: it reads", "k", "kernel.cu", 39, other=OTHER)
FOUND = conclude([CaseJudgement("a", "hidden", Verdict.ACCEPTED, 0.1, memory_errors=(RACE,))], 1)
HEADLINE = "right by luck on this GPU: race on shared memory, lines 39 and 44"


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "sum.cu"
    path.write_text("// gpujudge: challenge=reduction device=cuda:0\n")
    return path


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A machine with a GPU on which everything has ``verdict``; ``found`` is what a check finds, or raises."""
    told: dict[str, Any] = {"verdict": Verdict.ACCEPTED, "found": FOUND, "kinds": []}

    def judge(_source: bytes, pack: Any, device: DeviceInfo, *_: Any, **__: Any) -> Judgement:
        return Judgement(told["verdict"], pack.slug, pack.version, device, BuildReport(ok=True, wall_s=0.1))

    def recheck(_source: bytes, _pack: Any, kind: str, *_: Any) -> Recheck:
        told["kinds"].append(kind)
        if isinstance(told["found"], Exception):
            raise told["found"]
        found: Recheck = told["found"]
        return found

    monkeypatch.setattr(pipeline, "judge", judge)
    monkeypatch.setattr(rechecking, "recheck", recheck)
    monkeypatch.setattr(local, "find_device", lambda *_: GPU)
    monkeypatch.setattr(local, "prepare_device", lambda *_: None)
    return told


def test_a_finding_is_shown_after_the_judgement_and_changes_no_verdict(
    cli: Cli, kernel: Path, checks: dict[str, Any]
) -> None:
    ended = cli("judge", str(kernel))
    assert ended.exit_code == 0
    assert ended.stdout.startswith("AC  accepted")
    lines = ended.stdout.splitlines()
    assert f"  check   {HEADLINE}" in lines
    assert lines[lines.index(f"  check   {HEADLINE}") + 1].strip() == "race at kernel.cu:39: it reads"
    assert checks["kinds"] == ["emulator"]
    assert cli("judge", str(kernel), "--json").json["recheck"] == to_json(FOUND)


@pytest.mark.parametrize(
    ("found", "line"),
    [
        (
            conclude([CaseJudgement("a", "hidden", Verdict.ACCEPTED, 0.1)], 1),
            "nothing found on the emulator in 1 case",
        ),
        (unchecked("the emulator does not support it", "wgmma"), "unchecked: the emulator does not support it"),
        (InternalError("no g++"), "unchecked: the emulator cannot run here"),
    ],
)
def test_a_clean_kernel_and_one_that_cannot_be_checked(
    cli: Cli, kernel: Path, checks: dict[str, Any], found: Any, line: str
) -> None:
    checks["found"] = found
    assert f"  check   {line}" in cli("judge", str(kernel)).stdout.splitlines()


def test_only_what_was_wholly_judged_and_accepted_is_checked(cli: Cli, kernel: Path, checks: dict[str, Any]) -> None:
    for options in (["--no-recheck"], ["--samples-only"], ["--case", "one"]):
        assert "check  " not in cli("judge", str(kernel), *options).stdout
    checks["verdict"] = Verdict.WRONG_ANSWER
    assert "recheck" not in cli("judge", str(kernel), "--json").json
    assert checks["kinds"] == []


def test_watch_shows_what_the_server_found_or_that_it_will_look(cli: Cli, server: FakeServer) -> None:
    told = {"outcome": "found", "result": json.loads(json.dumps(to_json(FOUND)))}
    server.routes = {"GET submissions/abc": status("done", verdict="AC", judgement=JUDGEMENT, recheck=told)}
    assert f"  check   {HEADLINE}" in cli("watch", "abc").stdout.splitlines()
    assert cli("watch", "abc", "--json").json["recheck"]["headline"] == HEADLINE
    waiting = {"outcome": "waiting", "result": None}
    server.routes = {"GET submissions/abc": status("done", verdict="AC", judgement=JUDGEMENT, recheck=waiting)}
    assert "gpujudge watch abc shows what it finds" in cli("watch", "abc").stderr
    assert "recheck" not in cli("watch", "abc", "--json").json
