from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from judge.bench.background import Background


@pytest.fixture
def background() -> Background:
    return Background()


def test_it_is_busy_until_all_of_it_is_done(background: Background) -> None:
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


def test_what_goes_wrong_is_raised_where_it_is_asked_for(background: Background) -> None:
    future = background.submit(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        future.result()
    assert [type(error) for error in background.wait()] == [ZeroDivisionError]
    assert background.wait() == []
    assert not background.busy()
    background.close()


def test_closing_waits(background: Background) -> None:
    done = []

    def work() -> None:
        time.sleep(0.05)
        done.append(True)

    background.submit(work)
    background.close()
    background.close()
    assert done


@pytest.mark.parametrize("begin", [Background.begin, Background.wait, Background.close])
def test_what_is_put_off_is_begun_when_somebody_says_so(
    background: Background, begin: Callable[[Background], object]
) -> None:
    done = threading.Event()
    put_off = background.put_off(done.set)
    background.submit(lambda: None).result()
    assert not background.busy()
    assert not done.is_set()
    begin(background)
    put_off.result()
    assert done.is_set()
