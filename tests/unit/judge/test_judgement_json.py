"""Judgements are read as they are stored, and nothing is lost on the way."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import pytest

from judge.judgement import BuildReport, CaseJudgement, DeviceInfo, Judgement, Mismatch
from judge.judgement_json import (
    UnreadableJudgement,
    read_build_report,
    read_fingerprint,
    read_judgement,
    read_measurement,
    to_json,
)
from judge.measurements import BenchmarkCase, Fingerprint, KernelReplay, Measurement, ModelledCase, WorkCounts
from judge.verdict import Verdict
from judge.wire.profiles import COUNTS
from tests.stored_judgements import STORED, load_stored

DEVICE = DeviceInfo("emulator", "emulator", "CPU emulator", "8.0")


def assert_contains(whole: Any, part: Any, where: str = "") -> None:
    """Every field of ``part`` is in ``whole``, with the same value."""
    if isinstance(part, dict):
        for key, value in part.items():
            assert key in whole, f"{where}.{key} is lost"
            assert_contains(whole[key], value, f"{where}.{key}")
    elif isinstance(part, list):
        assert len(whole) == len(part), where
        for number, (one, other) in enumerate(zip(whole, part, strict=True)):
            assert_contains(one, other, f"{where}[{number}]")
    else:
        assert whole == part, where


@pytest.mark.parametrize("name", STORED)
def test_a_judgement_is_written_as_it_was_read(name: str) -> None:
    judgement = read_judgement(load_stored(name))
    written = json.loads(json.dumps(to_json(judgement)))
    assert written == load_stored(name)
    assert read_judgement(written) == judgement


def test_an_audit_says_what_was_replayed_and_why_the_rest_was_not() -> None:
    replayed = read_judgement(load_stored("v3_replayed")).measurement
    refused = read_judgement(load_stored("v3_not_replayed")).measurement
    plain = read_judgement(load_stored("v3_interval_and_fingerprint")).measurement
    assert replayed is not None
    assert refused is not None
    assert plain is not None
    assert replayed.audit == KernelReplay({"bench-25m": 1.24e-4}, {})
    assert replayed.audit.complete
    assert refused.audit == KernelReplay({}, {"bench-25m": "it uses cudaGraphLaunch"})
    assert not refused.audit.complete
    assert plain.audit is None
    [case] = replayed.cases
    partly = dataclasses.replace(replayed, cases=(case, dataclasses.replace(case, id="other", replayed_s=None)))
    assert partly.audit == KernelReplay({"bench-25m": 1.24e-4}, {"other": "its kernels were not replayed"})


def test_modelled_cases_are_told_from_measured_ones() -> None:
    def kind(name: str) -> type[BenchmarkCase]:
        measurement = read_judgement(load_stored(name)).measurement
        assert measurement is not None
        return type(measurement.cases[0])

    assert kind("v3_modelled_time") is ModelledCase
    assert kind("v3_replayed") is BenchmarkCase


def test_every_count_of_a_profile_has_its_field() -> None:
    names = {item.name for item in dataclasses.fields(WorkCounts)}
    assert names == {*COUNTS, "instructions", "active_lanes", "flops"} - {"thread_instructions"}


def test_numbers_that_json_cannot_carry_become_words() -> None:
    mismatch = Mismatch("C", ((0,),), (1.0,), ("nan",), 1, 1, math.inf, None)
    case = CaseJudgement("a", "hidden", Verdict.WRONG_ANSWER, 0.1, mismatch=mismatch)
    judgement = Judgement(Verdict.WRONG_ANSWER, "c", "1.0.0", DEVICE, BuildReport(ok=True, wall_s=0.1), (case,))
    written = json.loads(json.dumps(to_json(judgement), allow_nan=False))
    assert written["cases"][0]["mismatch"]["max_abs_error"] == "inf"
    assert read_judgement(written) == judgement


def test_parts_are_read_by_themselves() -> None:
    report = BuildReport(ok=True, wall_s=0.5, log="log")
    score = Measurement("time_s", 1.0, 3, 0.1, fingerprint=Fingerprint(gpu="GPU"))
    assert read_build_report(to_json(report)) == report
    assert read_measurement(to_json(score)) == score
    assert to_json(Fingerprint()) == {}
    assert read_fingerprint({}) == Fingerprint()


def test_what_a_fingerprint_of_another_version_holds_is_kept() -> None:
    found = read_fingerprint({"gpu": "GPU", "moon": "full"})
    assert (found.gpu, found.other) == ("GPU", {"moon": "full"})
    assert read_fingerprint(to_json(found)) == found


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"schema_version": 4, "verdict": "AC"}, "version 4"),
        ({"schema_version": "two", "verdict": "AC"}, "version two"),
        ({"schema_version": 2, "verdict": "AC"}, "version 2"),
        ({"schema_version": 3, "verdict": "AC"}, "challenge"),
        ({"schema_version": 3, "verdict": "??"}, "verdict"),
        ({"verdict": "AC"}, "version None"),
        ({}, "version None"),
    ],
)
def test_what_is_no_known_judgement_is_refused(data: dict[str, Any], reason: str) -> None:
    with pytest.raises(UnreadableJudgement, match=reason):
        read_judgement(data)
