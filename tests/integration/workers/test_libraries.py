"""Times of libraries by a worker: for boards that somebody is on, and again when something changes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, cast

import pytest

from judge.bench.library.record import LibraryTime
from judge.judgement import DeviceInfo
from judge.packs.collection.loader import load_pack
from store.boards.libraries import library_times
from store.models import BoardTotals
from store.models import LibraryTime as Row
from tests.fake_judge import FakeJudge
from tests.integration.workers.conftest import MakeFleet
from workers import libraries
from workers.context import WorkerContext, make_context
from workers.gpu import DeviceService
from workers.libraries import record_libraries, time_libraries_one

GPU = DeviceInfo("nvidia-h200", "cuda", "NVIDIA H200", "9.0", {"driver": "580.1"})
PACK = load_pack(Path(__file__).resolve().parents[3] / "challenges" / "vector-add")
FOUND = LibraryTime("eager", "PyTorch eager", "", 1e-4, 0.9e-4, 1.1e-4)


class Service:
    in_service = True

    def job(self) -> Any:
        return nullcontext()


SERVICE = cast("DeviceService", Service())


@pytest.fixture
def context(make_fleet: MakeFleet, monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkerContext]:
    """A worker whose machine has PyTorch, and a board that one user is on."""
    installed = {"torch": "2.11"}
    monkeypatch.setattr(libraries, "_installed", lambda: installed)
    monkeypatch.setattr("judge.libraries.versions", lambda: installed)
    fleet = make_fleet()
    judge = FakeJudge(fleet.diary, [FOUND])
    made = make_context(fleet.settings, judge=judge, packs={PACK.slug: PACK})  # type: ignore[arg-type]
    with made.sessions.begin() as session:
        board = {"challenge": PACK.slug, "device_key": GPU.key, "pack_major": PACK.major, "metric": "time_s"}
        session.add(BoardTotals(**board, users=1, best_value=1e-4, latest_submission_id=1))
    yield made
    made.doorbell.close()
    made.engine.dispose()


def known(context: WorkerContext) -> tuple[LibraryTime, ...]:
    with context.reads() as session:
        return library_times(session, PACK.slug, GPU.key, PACK.major)


def test_the_libraries_of_a_board_are_timed_once(context: WorkerContext) -> None:
    assert time_libraries_one(context, GPU, SERVICE)
    assert known(context) == (FOUND,)
    assert not time_libraries_one(context, GPU, SERVICE), "they hold"


def test_they_are_timed_again_with_another_driver(context: WorkerContext) -> None:
    assert time_libraries_one(context, GPU, SERVICE)
    other = dataclasses.replace(GPU, details={"driver": "590.1"})
    assert time_libraries_one(context, other, SERVICE)
    assert not time_libraries_one(context, other, SERVICE)


def test_without_pytorch_nothing_is_timed(context: WorkerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "_installed", dict)
    assert not time_libraries_one(context, GPU, SERVICE)
    assert known(context) == ()


def test_a_failure_is_recorded_and_not_tried_again(context: WorkerContext) -> None:
    cast("FakeJudge", context.judge).libraries = []
    assert time_libraries_one(context, GPU, SERVICE)
    assert known(context) == ()
    with context.reads() as session:
        problems = {row.name: row.problem for row in session.query(Row)}
    assert problems.keys() == {baseline.name for baseline in PACK.baselines.calls}
    assert all("cannot be called" in problem for problem in problems.values())
    assert not time_libraries_one(context, GPU, SERVICE)


def test_the_times_of_an_audit_take_the_place_of_earlier_ones(context: WorkerContext) -> None:
    assert time_libraries_one(context, GPU, SERVICE)
    later = dataclasses.replace(FOUND, value=1.05e-4)
    record_libraries(context, PACK, GPU, [later])
    assert known(context) == (later,)
    assert not time_libraries_one(context, GPU, SERVICE)
