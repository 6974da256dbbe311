from __future__ import annotations

import os
from pathlib import Path

import pytest

from judge.bench.processors import processor_for_timing


@pytest.fixture
def processors(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    processors = set(range(3, 12))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: processors)
    return processors


def test_no_two_judgements_have_the_same(processors: set[int], tmp_path: Path) -> None:
    with processor_for_timing(tmp_path) as one, processor_for_timing(tmp_path) as other:
        assert one != other
        assert {one, other} <= processors


def test_it_is_given_back(processors: set[int], tmp_path: Path) -> None:
    for _ in range(2):
        held = [processor_for_timing(tmp_path) for _ in processors]
        assert {one.__enter__() for one in held} == processors
        with processor_for_timing(tmp_path) as none_left:
            assert none_left is None
        for one in held:
            one.__exit__(None, None, None)


def test_where_there_are_few_the_system_chooses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1})
    with processor_for_timing(tmp_path) as processor:
        assert processor is None
