from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from judge.supervisor.processors import Processors, staying_on, timing_processors


@pytest.fixture
def allowed(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    processors = set(range(8))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _who: processors)
    return processors


def _siblings(folder: Path, pairs: list[str]) -> Path:
    for pair in pairs:
        for processor in pair.split(","):
            place = folder / f"cpu{processor}" / "topology"
            place.mkdir(parents=True)
            (place / "thread_siblings_list").write_text(pair)
    return folder


def test_each_gpu_has_a_pair_of_its_own(allowed: set[int], tmp_path: Path) -> None:
    assert timing_processors(0, tmp_path) == Processors(7, 6)
    assert timing_processors(1, tmp_path) == Processors(5, 4)
    # More GPUs than processors share them.
    assert timing_processors(4, tmp_path) == timing_processors(4 + 7, tmp_path)
    assert len(allowed) == 8


def test_no_two_on_one_core(allowed: set[int], tmp_path: Path) -> None:
    topology = _siblings(tmp_path, ["0,4", "1,5", "2,6", "3,7"])
    assert timing_processors(0, topology) == Processors(3, 2)
    # Of what is allowed alone.
    allowed -= {2, 3, 6}
    assert timing_processors(0, topology) == Processors(7, 1)


def test_too_few_are_none(allowed: set[int], tmp_path: Path) -> None:
    allowed -= {3, 4, 5, 6, 7}
    assert timing_processors(0, tmp_path) is None
    allowed |= {3}
    assert timing_processors(0, _siblings(tmp_path, ["0,1,2,3"])) is None


def test_a_thread_stays_and_goes_back() -> None:
    seen: list[set[int]] = []

    def run() -> None:
        before = os.sched_getaffinity(0)
        with staying_on(max(before)):
            seen.append(os.sched_getaffinity(0))
        seen.append(os.sched_getaffinity(0))
        # A processor that is not there changes nothing.
        with staying_on(100_000):
            seen.append(os.sched_getaffinity(0))
        seen.append(before)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    before = seen[-1]
    assert seen == [{max(before)}, before, before, before]
