"""Progress as events, and packs that change while workers run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from judge.errors import InternalError
from judge.packs.collection.registry import Registry
from judge.verdict import Verdict
from store.queue.jobs import Lease, Stage
from tests.fake_judge import FakePack, FakeProgress
from workers import progress as progress_module
from workers.packs import Packs
from workers.progress import ProgressEvents


def test_cases_are_all_told_and_timing_a_few_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 100.0
    told: list[tuple[str, dict[str, Any]]] = []
    events = ProgressEvents(None, Lease(1, 1, "t", Stage.RUN, 1), monotonic=lambda: now_s)  # type: ignore[arg-type]
    monkeypatch.setattr(events, "_enqueue", lambda kind, payload, **_: told.append((kind, payload)))
    events(FakeProgress("running", total=2))  # type: ignore[arg-type]
    events(FakeProgress("case", "one", Verdict.ACCEPTED, 1, 2, "sample"))  # type: ignore[arg-type]
    events(FakeProgress("case", "two", Verdict.WRONG_ANSWER, 2, 2, "hidden"))  # type: ignore[arg-type]
    assert told == [
        ("case", {"id": "one", "group": "sample", "verdict": "AC", "done": 1, "total": 2}),
        ("case", {"id": "two", "group": "hidden", "verdict": "WA", "done": 2, "total": 2}),
    ]
    told.clear()
    for done in range(1, 201):
        now_s += 0.01
        events(FakeProgress("timing", "bench", None, done, 200))  # type: ignore[arg-type]
    assert 2.0 / progress_module.TIMING_EVERY_S - 1 <= len(told) <= 2.0 / progress_module.TIMING_EVERY_S + 2
    assert told[-1][1] == {"id": "bench", "done": 200, "total": 200}


def test_packs_are_read_again_when_a_submission_knows_a_newer_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_disk = {"reduction": FakePack(digest="old")}
    reads = 0

    def load(_paths: object) -> Registry:
        nonlocal reads
        reads += 1
        return Registry(dict(on_disk), ())  # type: ignore[arg-type]

    monkeypatch.setattr(Registry, "load", load)
    monkeypatch.setattr("judge.packs.collection.live._files_state", lambda _: on_disk["reduction"].digest)
    packs = Packs([tmp_path], tmp_path / "past")
    assert packs.find("reduction", "old").digest == "old"
    assert packs.find("reduction", "old").digest == "old"
    assert reads == 1
    on_disk["reduction"] = FakePack(digest="new")
    assert packs.find("reduction", "new").digest == "new"
    assert reads == 2
    assert packs.find("reduction", "gone").digest == "new", "what is served now, when that version is no more"
    with pytest.raises(InternalError, match="no pack softmax"):
        packs.find("softmax", "any")
