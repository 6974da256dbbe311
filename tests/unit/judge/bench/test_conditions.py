from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from judge.bench import conditions
from judge.bench.conditions import GpuConditions, HostLoad, processor_for_timing, reserved_processors
from judge.gpu.nvml import GpuState
from tests.fake_gpu import FakeGpuWatch


@pytest.fixture
def processors(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    processors = set(range(3, 12))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: processors)
    monkeypatch.setattr(conditions, "_WATCH_S", 0.0)
    return processors


def test_no_two_judgements_have_the_same_processor(processors: set[int], tmp_path: Path) -> None:
    with processor_for_timing(tmp_path) as one, processor_for_timing(tmp_path) as other:
        assert one != other
        assert {one, other} <= processors


def test_a_processor_is_released(processors: set[int], tmp_path: Path) -> None:
    for _ in range(2):
        held = [processor_for_timing(tmp_path) for _ in processors]
        assert {one.__enter__() for one in held} == processors
        with processor_for_timing(tmp_path) as none_left:
            assert none_left is None
        for one in held:
            one.__exit__(None, None, None)


@pytest.mark.usefixtures("processors")
def test_what_others_have_reserved_is_known(tmp_path: Path) -> None:
    assert reserved_processors(tmp_path) == set()
    with processor_for_timing(tmp_path) as one:
        with processor_for_timing(tmp_path) as other:
            assert reserved_processors(tmp_path) == {one, other}
        assert reserved_processors(tmp_path) == {one}
        assert reserved_processors(tmp_path) == {one}, "looking takes none away"


def test_no_processor_is_reserved_if_there_are_few(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1})
    with processor_for_timing(tmp_path) as processor:
        assert processor is None


def test_the_processor_that_others_leave_idle_comes_first(processors: set[int], tmp_path: Path) -> None:
    now = dict.fromkeys(processors, (0, 0))
    load = HostLoad(
        lambda: "\n".join(["cpu 0 0 0 0", *(f"cpu{n} {busy} 0 0 {idle} 0 0 0 0" for n, (busy, idle) in now.items())])
    )
    now |= dict.fromkeys(processors, (18, 2)) | {7: (0, 20), 9: (5, 15)}
    with processor_for_timing(tmp_path, load=load) as one, processor_for_timing(tmp_path, load=load) as other:
        assert (one, other) == (7, 9)


@pytest.mark.parametrize(
    ("ticks", "idle_share"),
    [
        ("cpu 100 0 0 0 0 0 0 0", 0.0),
        ("cpu 50 10 10 15 5 5 5 0", 0.2),
        ("cpu 0 0 0 5 0 0 0 95", 0.05),
        ("cpu 100 0 0 100 0 0 0 0 1000 1000", 0.5),
        ("cpu 0 0 0 0 0 0 0 0", 1.0),
    ],
    ids=["busy", "mixed", "taken by the hypervisor", "guests are counted once", "at once"],
)
def test_how_long_the_processors_were_idle(ticks: str, idle_share: float) -> None:
    zero = [int(word) for word in ["700", "600", "500", "400", "300", "200", "100", "50", "7", "7"]]
    passed = [int(word) for word in ticks.split()[1:]]
    later = [begun + more for begun, more in zip(zero, [*passed, *[0] * 10], strict=False)]
    said = iter(["cpu  " + " ".join(map(str, words)) + "\ncpu0 1 2 3\nintr 5\n" for words in (zero, later, later)])
    load = HostLoad(lambda: next(said))
    assert load.busy_share == pytest.approx(1 - idle_share)
    assert load.is_heavy == (idle_share < 0.1)


def test_this_machines_load_is_a_share() -> None:
    load = HostLoad()
    time.sleep(0.05)
    assert 0 <= load.busy_share <= 1


def test_a_reading_after_one_burst_serves_the_next_that_begins_at_once() -> None:
    now = 0.0
    watch = FakeGpuWatch([GpuState(sm_mhz=mhz) for mhz in (1980, 1755, 1600)])
    conditions = GpuConditions(watch, clock=lambda: now)
    assert conditions.before().sm_mhz == 1980
    assert conditions.sample().sm_mhz == 1755
    now = 0.05
    assert conditions.before().sm_mhz == 1755
    now = 0.2
    assert conditions.before().sm_mhz == 1600
    assert watch.samples == 3


def test_a_throttled_gpu_is_read_anew_after_the_pause() -> None:
    hot = GpuState(throttled_by=("power brake",))
    watch = FakeGpuWatch([hot, GpuState(sm_mhz=1980)])
    conditions = GpuConditions(watch, lambda _: None, clock=lambda: 0.0)
    assert not conditions.accepts(conditions.before(), hot)
    assert not conditions.before().throttled
