"""No check runs while calls are timed: it ends when timing wants to begin, and none begins meanwhile."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from judge.bench.timed_calls import beside_no_timed_call, timed_calls
from judge.errors import Cancelled


def test_a_check_ends_when_timing_wants_to_begin(tmp_path: Path) -> None:
    begun, ended, timed = threading.Event(), threading.Event(), threading.Event()

    def time_calls() -> None:
        with timed_calls(tmp_path):
            assert ended.is_set()
            timed.set()

    def check() -> None:
        with beside_no_timed_call(tmp_path, cancelled=lambda: False) as is_wanted:
            assert not is_wanted()
            begun.set()
            while not is_wanted():
                pass
            assert not timed.is_set()
            ended.set()

    threads = [threading.Thread(target=check)]
    threads[0].start()
    assert begun.wait(10)
    threads.append(threading.Thread(target=time_calls))
    threads[1].start()
    for thread in threads:
        thread.join(10)
    assert timed.is_set()


def test_no_check_begins_while_calls_are_timed(tmp_path: Path) -> None:
    asked = iter((False, False, True))
    with (
        timed_calls(tmp_path),
        timed_calls(tmp_path),  # of another GPU
        pytest.raises(Cancelled),
        beside_no_timed_call(tmp_path, cancelled=lambda: next(asked)),
    ):
        pytest.fail("it began")
    with beside_no_timed_call(tmp_path, cancelled=lambda: True) as is_wanted:
        assert not is_wanted()


def test_one_check_runs_at_a_time_and_waiting_can_be_given_up(tmp_path: Path) -> None:
    with beside_no_timed_call(tmp_path, cancelled=lambda: False) as is_wanted:
        with pytest.raises(Cancelled), beside_no_timed_call(tmp_path, cancelled=lambda: True):
            pytest.fail("it began")
        with pytest.raises(Cancelled), timed_calls(tmp_path, cancelled=is_wanted):
            pytest.fail("it began")
        assert not is_wanted()
