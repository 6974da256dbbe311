from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from judge.bench.background import Background


@pytest.fixture
def background() -> Background:
    return Background()


def test_background_is_busy_until_all_work_is_done(background: Background) -> None:
    first, second = threading.Event(), threading.Event()
    assert not background.busy()
    one = background.submit(lambda: first.wait(10))
    other = background.submit(lambda: second.wait(10))
    second.set()
    assert other.result()
    assert background.busy()
    first.set()
    background.wait()
    assert one.done()
    assert not background.busy()
    background.close()


def test_errors_are_raised_by_the_future_and_returned_by_wait(background: Background) -> None:
    future = background.submit(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        future.result()
    assert [type(error) for error in background.wait()] == [ZeroDivisionError]
    assert background.wait() == []
    assert not background.busy()
    background.close()


def test_close_waits_for_all_work(background: Background) -> None:
    done = []

    def work() -> None:
        time.sleep(0.05)
        done.append(True)

    background.submit(work)
    background.close()
    background.close()
    assert done


@pytest.mark.parametrize("begin", [Background.start_deferred, Background.wait, Background.close])
def test_deferred_work_starts_when_it_is_released(
    background: Background, begin: Callable[[Background], object]
) -> None:
    done = threading.Event()
    defer = background.defer(done.set)
    background.submit(lambda: None).result()
    assert not background.busy()
    assert not done.is_set()
    begin(background)
    defer.result()
    assert done.is_set()
