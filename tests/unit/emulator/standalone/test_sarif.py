"""The log has what the schema of SARIF 2.1.0 requires, and both lines of a race."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from emulator.runtime.report import Report
from emulator.standalone.sarif import rule_of, sarif_plain, sarif_refusal
from emulator.standalone.session import Outcome
from tests.unit.emulator.standalone.made_outcomes import outcome

_LEVELS = {"none", "note", "warning", "error"}


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _check(log: dict[str, Any]) -> dict[str, Any]:
    """Checks the properties that the schema requires, and that indices and ids fit. Returns the run."""
    json.dumps(log)
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    [run] = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for rule in rules:
        assert rule["shortDescription"]["text"]
        assert rule["defaultConfiguration"]["level"] in _LEVELS
    for invocation in run["invocations"]:
        assert isinstance(invocation["executionSuccessful"], bool)
        for notification in invocation.get("toolExecutionNotifications", ()):
            assert notification["message"]["text"]
    for result in run["results"]:
        assert result["message"]["text"]
        assert result["level"] in _LEVELS
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        for location in (*result["locations"], *result.get("relatedLocations", ())):
            physical = location["physicalLocation"]
            assert physical["artifactLocation"]["uri"]
            assert physical["region"]["startLine"] >= 1
        for related in result.get("relatedLocations", ()):
            assert related["id"] >= 0
            assert related["message"]["text"]
    found: dict[str, Any] = run
    return found


def _place(location: dict[str, Any]) -> tuple[str, int]:
    physical = location["physicalLocation"]
    return physical["artifactLocation"]["uri"], physical["region"]["startLine"]


def test_a_result_for_each_problem_and_note(repository: Path) -> None:
    run = _check(sarif_plain(outcome(repository)))

    assert [(result["ruleId"], result["level"]) for result in run["results"]] == [
        ("out-of-bounds-write", "error"),
        ("race-on-shared-memory", "error"),
        ("leaked-memory", "error"),
        ("undefined-shuffle", "note"),
    ]
    assert run["invocations"] == [{"executionSuccessful": True, "exitCode": 1}]
    write, race, leak, _ = run["results"]
    [place] = write["locations"]
    assert _place(place) == ("src/scale.cu", 5)
    assert place["physicalLocation"]["artifactLocation"]["uriBaseId"] == "SRCROOT"
    assert place["logicalLocations"] == [{"name": "scale", "kind": "function"}]
    assert _place(race["locations"][0]) == ("src/scale.cu", 12)
    assert [_place(related) for related in race["relatedLocations"]] == [("src/scale.cu", 14)]
    assert leak["locations"] == []


def test_files_with_odd_names_and_elsewhere(repository: Path) -> None:
    odd, *_ = _check(sarif_plain(outcome(repository, source="my kernels/100%.cu")))["results"]
    assert _place(odd["locations"][0]) == ("my%20kernels/100%25.cu", 5)

    other, *_ = _check(sarif_plain(outcome(Path("/opt"), source="a.cu")))["results"]
    artifact = other["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "file:///opt/a.cu"}


def test_nothing_found_and_a_signal() -> None:
    run = _check(sarif_plain(Outcome(139, "SIGSEGV", (Report(),))))
    assert run["results"] == run["tool"]["driver"]["rules"] == []
    assert run["invocations"] == [{"executionSuccessful": True, "exitCode": 139, "exitSignalName": "SIGSEGV"}]


def test_a_refusal() -> None:
    [invocation] = _check(sarif_refusal("./a: no such file", 127))["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 127)


def test_names_of_rules() -> None:
    assert rule_of("illegal warp-sync mask") == "illegal-warp-sync-mask"
    assert rule_of("not supported by the emulator") == "not-supported-by-the-emulator"
