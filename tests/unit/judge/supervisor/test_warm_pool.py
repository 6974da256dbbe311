import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from judge.supervisor.runner_start import StartedRunner
from judge.supervisor.warm_pool import WarmPool, enough_memory_free


class FakeProcess:
    """A runner that comes up when ``up`` is set."""

    def __init__(self, up: threading.Event) -> None:
        self.alive = True
        self.comes_up = True
        self._up = up

    def receive(self, _pending: object, limit_s: float) -> tuple[bytes, float]:
        if not self._up.wait(limit_s) or not self.comes_up:
            raise TimeoutError("late")
        return b"", 0.1

    def close(self) -> None:
        self.alive = False


class Starter:
    def __init__(self) -> None:
        self.up = threading.Event()
        self.up.set()
        self.made: list[FakeProcess] = []
        self.sizes: list[tuple[int, int]] = []
        self.error: Exception | None = None

    def __call__(self, input_bytes: int, output_bytes: int) -> StartedRunner:
        if self.error is not None:
            raise self.error
        self.sizes.append((input_bytes, output_bytes))
        self.made.append(FakeProcess(self.up))
        return StartedRunner(cast(Any, self.made[-1]), cast(Any, "pending"))


@pytest.fixture
def starter() -> Starter:
    return Starter()


@pytest.fixture
def pool(starter: Starter) -> Iterator[Callable[..., WarmPool]]:
    made: list[WarmPool] = []

    def make(count: int = 2, **options: Any) -> WarmPool:
        made.append(WarmPool(starter, count, start_s=10, **{"enough_memory": lambda: True, **options}))
        return made[-1]

    yield make
    starter.up.set()
    for one in made:
        one.close()


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_each_runner_is_handed_out_once_and_replaced(pool: Callable[..., WarmPool], starter: Starter) -> None:
    warm = pool()
    until(lambda: warm.ready == 2)
    first, second = warm.take(10, 10), warm.take(10, 10)
    assert first is not None
    assert second is not None
    assert first.process is not second.process
    assert first.starting is None
    until(lambda: warm.ready == 2)
    assert len(starter.made) == 4
    warm.close()
    assert [process.alive for process in starter.made] == [True, True, False, False]


def test_take_waits_for_a_runner_that_is_starting(pool: Callable[..., WarmPool], starter: Starter) -> None:
    starter.up.clear()
    warm = pool(1)
    until(lambda: len(starter.made) == 1)
    taken: list[StartedRunner | None] = []
    thread = threading.Thread(target=lambda: taken.append(warm.take(1, 1)))
    thread.start()
    thread.join(0.05)
    assert not taken
    starter.up.set()
    thread.join(10)
    assert taken[0] is not None


def test_several_start_together(pool: Callable[..., WarmPool], starter: Starter) -> None:
    starter.up.clear()
    warm = pool(5, together=3)
    until(lambda: len(starter.made) == 3)
    time.sleep(0.05)
    assert len(starter.made) == 3
    starter.up.set()
    until(lambda: warm.ready == 5)
    assert len(starter.made) == 5


def test_one_that_fails_ends_none_that_started_with_it(pool: Callable[..., WarmPool], starter: Starter) -> None:
    starter.up.clear()
    reported: list[str] = []
    warm = pool(2, together=2, report=reported.append)
    until(lambda: len(starter.made) == 2)
    starter.made[0].comes_up = False
    starter.up.set()
    until(lambda: warm.ready == 1)
    until(lambda: reported == ["TimeoutError: late"])
    assert [process.alive for process in starter.made] == [False, True]


def test_no_runner_is_started_while_quiet(pool: Callable[..., WarmPool], starter: Starter) -> None:
    warm = pool(1)
    with warm.quiet():
        until(lambda: warm.ready == 1)
        assert warm.take(1, 1) is not None
        assert warm.take(1, 1) is None
        time.sleep(0.05)
        assert len(starter.made) == 1
    until(lambda: len(starter.made) == 2)


def test_quiet_need_not_wait_for_a_runner_that_is_starting(pool: Callable[..., WarmPool], starter: Starter) -> None:
    starter.up.clear()
    warm = pool(2)
    until(lambda: len(starter.made) == 1)
    with warm.quiet(wait=False):
        assert warm.ready == 0
        starter.up.set()
        until(lambda: warm.ready == 1)
        time.sleep(0.05)
        assert len(starter.made) == 1
    until(lambda: warm.ready == 2)


def test_ended_and_old_runners_are_not_handed_out(pool: Callable[..., WarmPool], starter: Starter) -> None:
    warm = pool(1)
    until(lambda: warm.ready == 1)
    with warm.quiet():
        starter.made[0].alive = False
        assert warm.take(1, 1) is None
    until(lambda: warm.ready == 1)
    assert len(starter.made) == 2
    old = pool(1, max_age_s=0.0)
    until(lambda: len(starter.made) > 2)
    assert old.take(1, 1) is None or starter.made[-1].alive


def test_later_runners_have_the_largest_regions_asked_for(pool: Callable[..., WarmPool], starter: Starter) -> None:
    warm = pool(1)
    until(lambda: warm.ready == 1)
    assert warm.take(1 << 40, 1) is None
    assert not starter.made[0].alive
    until(lambda: warm.ready == 1)
    assert starter.sizes[1] == (1 << 40, starter.sizes[0][1])
    assert warm.take(1 << 40, 1) is not None


def test_errors_are_reported_and_the_caller_starts_a_runner(pool: Callable[..., WarmPool], starter: Starter) -> None:
    starter.error = ValueError("no such thing")
    told: list[str] = []
    warm = pool(1, report=told.append)
    until(lambda: bool(told))
    assert told == ["ValueError: no such thing"]
    assert warm.take(1, 1) is None


def test_no_runner_waits_without_memory_to_spare(
    pool: Callable[..., WarmPool], starter: Starter, tmp_path: Path
) -> None:
    warm = pool(1, enough_memory=lambda: False)
    assert warm.take(1, 1) is None
    assert not starter.made
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 99 kB\nMemAvailable:    1048576 kB\n")
    assert not enough_memory_free(meminfo)
    meminfo.write_text("MemAvailable:    8388608 kB\n")
    assert enough_memory_free(meminfo)


class FakeBeside:
    """Is missing until it was started, and again once ``taken``."""

    def __init__(self) -> None:
        self.missing = True
        self.may_start = threading.Event()
        self.may_start.set()
        self.starts = self.ends = 0

    def start(self) -> None:
        self.starts += 1

    def wait(self) -> None:
        assert self.may_start.wait(60)
        self.missing = False

    def close(self) -> None:
        self.ends += 1
        self.missing = True


def test_what_is_beside_the_runners_starts_with_them_and_not_in_the_quiet(
    pool: Callable[..., WarmPool], starter: Starter
) -> None:
    beside = FakeBeside()
    starter.up.clear()
    warm = pool(1, beside=beside)
    until(lambda: len(starter.made) == 1)
    assert beside.starts == 1
    starter.up.set()
    until(lambda: warm.is_full)
    with warm.quiet():
        beside.missing = True
        assert warm.take(10, 10) is not None
        time.sleep(0.05)
        assert beside.starts == 1
    until(lambda: warm.is_full)
    assert beside.starts == 2


def test_nobody_waits_for_a_runner_while_only_what_is_beside_starts(pool: Callable[..., WarmPool]) -> None:
    beside = FakeBeside()
    beside.may_start.clear()
    warm = pool(1, beside=beside)
    until(lambda: warm.ready == 1)
    assert not warm.is_full
    assert warm.take(10, 10) is not None
    assert warm.take(10, 10) is None
    beside.may_start.set()
    until(lambda: warm.is_full)
    with warm.quiet():
        assert not beside.missing


def test_what_is_beside_ends_with_the_pool_and_is_replaced_where_the_device_failed(
    pool: Callable[..., WarmPool],
) -> None:
    beside = FakeBeside()
    warm = pool(1, beside=beside)
    until(lambda: beside.starts == 1)
    warm.clear()
    until(lambda: beside.starts == 2)
    warm.close()
    assert beside.ends == 2
