"""Writes the report as SARIF 2.1.0, the format of GitHub's code scanning and of many editors."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from emulator.standalone.annotations import TOOL, Annotation, Place, annotations_of, path_in_repository
from emulator.standalone.session import Outcome

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_BASE = "SRCROOT"


def sarif_plain(outcome: Outcome) -> dict[str, Any]:
    """Returns the log, with a result for each problem and note, as plain data for ``json.dumps``."""
    annotations = annotations_of(outcome)
    invocation: dict[str, Any] = {"executionSuccessful": True, "exitCode": outcome.exit_code}
    if outcome.signal:
        invocation["exitSignalName"] = outcome.signal
    return _log(annotations, invocation)


def sarif_refusal(message: str, exit_code: int) -> dict[str, Any]:
    """Returns the log of a program that cannot run."""
    notification = {"level": "error", "message": {"text": message}}
    invocation = {
        "executionSuccessful": False,
        "exitCode": exit_code,
        "toolExecutionNotifications": [notification],
    }
    return _log((), invocation)


def rule_of(kind: str) -> str:
    """Returns the rule's id: "race on shared memory" is ``race-on-shared-memory``."""
    return re.sub(r"[^a-z0-9]+", "-", kind.lower()).strip("-")


def _log(annotations: tuple[Annotation, ...], invocation: dict[str, Any]) -> dict[str, Any]:
    levels = {annotation.kind: annotation.level for annotation in annotations}
    numbers = {kind: number for number, kind in enumerate(levels)}
    rules = [
        {
            "id": rule_of(kind),
            "name": "".join(word.capitalize() for word in rule_of(kind).split("-")),
            "shortDescription": {"text": kind},
            "defaultConfiguration": {"level": level},
        }
        for kind, level in levels.items()
    ]
    run = {
        "tool": {"driver": {"name": TOOL, "rules": rules}},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": [_result(annotation, numbers[annotation.kind]) for annotation in annotations],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(annotation: Annotation, rule: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": rule_of(annotation.kind),
        "ruleIndex": rule,
        "level": annotation.level,
        "message": {"text": annotation.message},
        "locations": [],
    }
    location: dict[str, Any] = _location(annotation.place) if annotation.place else {}
    if annotation.kernel:
        location["logicalLocations"] = [{"name": annotation.kernel, "kind": "function"}]
    if location:
        result["locations"] = [location]
    if annotation.related:
        result["relatedLocations"] = [
            _location(place) | {"id": number, "message": {"text": place.message}}
            for number, place in enumerate(annotation.related)
        ]
    return result


def _location(place: Place) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": _artifact(place.file), "region": {"startLine": place.line}}}


def _artifact(file: str) -> dict[str, str]:
    path = path_in_repository(file)
    return {"uri": path.as_uri()} if path.is_absolute() else {"uri": _quoted(path), "uriBaseId": _BASE}


def _quoted(path: Path) -> str:
    return (Path("/") / path).as_uri().removeprefix("file:///")
