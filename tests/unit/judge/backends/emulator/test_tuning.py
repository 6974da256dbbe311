"""The choice of an autotuned kernel's configuration: by its modelled time, within the time allowed, if it runs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from judge.backends.emulator import tuning
from judge.compile.artifact import Artifact
from judge.compile.target import Target
from judge.judgement import BuildReport
from judge.packs.pack import Pack
from judge.settings import JudgeSettings
from judge.supervisor.verdict_rules import Outcome
from judge.verdict import Verdict
from judge.wire.python_program import Choice, TunedConfig, TunedKernel

ADD = TunedKernel("add:3", tuple(TunedConfig(f"{i} of 3", (f"add_{i}",)) for i in (1, 2, 3)))
HALF_READY = TunedKernel("mul:9", (TunedConfig("1 of 2", problem="kernel.py:9: no"), TunedConfig("2 of 2", ("mul",))))
FIRST_READY = TunedKernel("mul:9", (TunedConfig("1 of 2", ("mul",)), TunedConfig("2 of 2", problem="kernel.py:9: no")))
ARTIFACT = Artifact(b"", Target("emulator", "compute_80"))
REPORT = BuildReport(ok=True, wall_s=0.0)


class FakeLanguage:
    """Hands out kernels and keeps the choices that it is given."""

    def __init__(self, *kernels: TunedKernel) -> None:
        self._kernels = kernels
        self.rounds: Sequence[Choice] = ()

    def tuned(self, _: Artifact) -> Sequence[TunedKernel]:
        return self._kernels

    def choose(self, artifact: Artifact, rounds: Sequence[Choice]) -> Artifact:
        self.rounds = rounds
        return artifact


class FakeSession:
    """Answers a call by the seconds of the configuration that the call has."""

    def __init__(self, language: FakeLanguage, seconds: dict[str, float | Verdict]) -> None:
        self._language, self._seconds = language, seconds
        self.runner = SimpleNamespace(inputs=None, outputs=None)

    def load(self, _: Artifact) -> None:
        self._rounds = list(self._language.rounds)

    def call(self, _: object) -> Any:
        answers = {}
        for place, told in self._rounds.pop(0):
            answers[f"{place.rpartition(':')[0]}_{told[0]}"] = self._seconds[told]
        return SimpleNamespace(ran=answers, fetched=SimpleNamespace(report=answers))

    def finish(self) -> None:
        """Does nothing."""


@pytest.fixture(autouse=True)
def _without_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    def outcome(ran: dict[str, Any], *_: object) -> Outcome:
        wrong = [each for each in ran.values() if isinstance(each, Verdict)]
        return Outcome(wrong[0] if wrong else Verdict.ACCEPTED)

    request = SimpleNamespace(put_inputs=lambda *_: None, clear_outputs=lambda *_: None, request=None)
    monkeypatch.setattr(tuning, "outcome_of_call", outcome)
    monkeypatch.setattr(tuning, "kernel_seconds", lambda report, *_: report)
    monkeypatch.setattr(tuning, "make_inputs", lambda *_: {})
    monkeypatch.setattr(tuning, "lay_out", lambda *_: request)
    monkeypatch.setattr(tuning.dataclasses, "replace", _replaced)


def _replaced(what: Any, **changes: Any) -> Any:
    return BuildReport(ok=True, wall_s=0.0, **changes) if isinstance(what, BuildReport) else what


def _chosen(
    seconds: dict[str, float | Verdict], *kernels: TunedKernel, allowed_s: float = 10.0, call_s: float = 0.0
) -> tuple[list[Choice], tuple[str, ...], int]:
    """Returns the choices that stay, the notes, and how many processes were started."""
    language = FakeLanguage(*kernels)
    started = itertools.count()
    count = [0]

    def start() -> FakeSession:
        count[0] = next(started) + 1
        return FakeSession(language, seconds)

    now = itertools.count(0.0, call_s) if call_s else itertools.repeat(0.0)
    factory = SimpleNamespace(start=start, bounds=SimpleNamespace(call_s=1.0), submission=None)
    pack = cast(Pack, SimpleNamespace(arguments=()))
    settings = JudgeSettings(cast(Any, None), autotune_s=allowed_s)
    _, report = tuning.choose_configurations(
        cast(Any, language), ARTIFACT, REPORT, pack, [cast(Any, "case")], 1, settings, cast(Any, factory),
        clock=lambda: next(now),
    )  # fmt: skip
    return list(language.rounds), report.notes, count[0]


def test_the_fastest_is_taken_and_all_are_told() -> None:
    rounds, notes, processes = _chosen({"1 of 3": 3e-6, "2 of 3": 1e-6, "3 of 3": 2e-6}, ADD)
    assert rounds == [(("add:3", "2 of 3"),)]
    told = "autotune: add takes configuration 2, the fastest as modelled: 2 of 3 1 µs; 3 of 3 2 µs; 1 of 3 3 µs"
    assert notes == (told,)
    assert processes == 1


def test_what_fails_is_not_taken_and_the_others_go_on() -> None:
    rounds, notes, processes = _chosen({"1 of 3": Verdict.RUNTIME_ERROR, "2 of 3": 2e-6, "3 of 3": 1e-6}, ADD)
    assert rounds == [(("add:3", "3 of 3"),)]
    assert notes[0].endswith("1 of 3 failed (RE)")
    assert processes == 2


def test_what_there_is_no_time_for_is_not_taken() -> None:
    rounds, notes, _ = _chosen(
        {"1 of 3": 3e-6, "2 of 3": 2e-6, "3 of 3": 1e-6}, ADD, allowed_s=2.5, call_s=1.0
    )  # fmt: skip
    assert rounds == [(("add:3", "1 of 3"),)]
    assert notes[0].endswith("2 of 3 not tried in time; 3 of 3 not tried in time")


def test_without_any_time_the_first_is_taken() -> None:
    rounds, notes, processes = _chosen({}, ADD, allowed_s=0.0)
    assert (rounds, processes) == ([(("add:3", "1 of 3"),)], 0)
    assert "the first that compiles" in notes[0]


def test_one_that_compiles_alone_needs_no_process() -> None:
    assert _chosen({}, HALF_READY) == ([], (), 0)
    _, notes, _ = _chosen({}, FIRST_READY)
    assert notes == ("autotune: mul takes configuration 1 of 2, since no other compiles: kernel.py:9: no",)
