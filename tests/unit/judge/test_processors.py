"""Judgements on the emulator share the processors of a machine."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge import processors
from judge.errors import Cancelled
from judge.processors import emulator_processors, emulator_share, emulator_threads
from judge.settings import JudgeSettings


@pytest.fixture
def settings(tmp_path: Path) -> JudgeSettings:
    return JudgeSettings(data_dir=tmp_path)


@pytest.fixture
def ending() -> Iterator[contextlib.ExitStack]:
    with contextlib.ExitStack() as stack:
        yield stack


def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, count: int, *, gpus: int = 0) -> None:
    """Pretends that this machine has ``count`` processors and ``gpus`` GPUs."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(count)))
    dev = tmp_path / "dev"
    dev.mkdir()
    for number in range(gpus):
        (dev / f"nvidia{number}").touch()
    monkeypatch.setattr(processors, "_DEV", dev)


def fill(ending: contextlib.ExitStack, settings: JudgeSettings) -> list[int]:
    """Begins judgements until the next one would have to wait. Returns the threads of each."""
    found = []
    with contextlib.suppress(Cancelled):
        while True:
            found.append(ending.enter_context(emulator_share(settings, cancelled=lambda: True)))
    return found


@pytest.mark.parametrize(("count", "threads"), [(1, 1), (2, 2), (8, 8), (64, 8), (192, 8)])
def test_threads_end_where_more_stop_helping(
    settings: JudgeSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, count: int, threads: int
) -> None:
    machine(monkeypatch, tmp_path, count)
    assert emulator_threads(settings) == threads
    assert emulator_threads(dataclasses.replace(settings, emulator_threads=13)) == 13


def test_all_threads_together_leave_processors_to_a_timed_gpu(
    settings: JudgeSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ending: contextlib.ExitStack
) -> None:
    machine(monkeypatch, tmp_path, 64, gpus=4)
    found = fill(ending, settings)
    assert sum(found) <= 48
    assert len(found) >= 12
    assert found[0] == 8


@pytest.mark.parametrize(("count", "gpus", "left"), [(64, 1, 48), (16, 1, 12), (16, 4, 8), (64, 8, 48), (8, 4, 4)])
def test_each_gpu_keeps_two_processors(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, count: int, gpus: int, left: int
) -> None:
    machine(monkeypatch, tmp_path, count, gpus=gpus)
    assert emulator_processors() == left


def test_without_a_gpu_all_processors_are_used(
    settings: JudgeSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ending: contextlib.ExitStack
) -> None:
    machine(monkeypatch, tmp_path, 64)
    assert sum(fill(ending, settings)) == 64


def test_two_judgements_go_on_at_once_on_any_machine(
    settings: JudgeSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ending: contextlib.ExitStack
) -> None:
    machine(monkeypatch, tmp_path, 2)
    assert fill(ending, settings) == [2, 2]


def test_a_share_that_is_given_back_is_there_for_the_next(
    settings: JudgeSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    machine(monkeypatch, tmp_path, 1)
    for _ in range(20):
        with emulator_share(settings, cancelled=lambda: True) as threads:
            assert threads == 1
