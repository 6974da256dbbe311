from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from web.gathering import Gathering


class Answerer:
    """Doubles numbers when it may; refuses negative ones, and fails for all if there is a zero."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []
        self.begun = threading.Semaphore(0)
        self.may = threading.Semaphore(0)

    def __call__(self, questions: Sequence[int]) -> list[int | Exception]:
        self.asked.append(list(questions))
        self.begun.release()
        assert self.may.acquire(timeout=30)
        if 0 in questions:
            raise ZeroDivisionError
        return [2 * one if one > 0 else ValueError(str(one)) for one in questions]


class Asking(threading.Thread):
    """Asks one question and keeps what came of it."""

    def __init__(self, gathering: Gathering[int, int], question: int) -> None:
        super().__init__(daemon=True)
        self.gathering, self.question = gathering, question
        self.told: int | Exception | None = None
        self.start()

    def run(self) -> None:
        try:
            self.told = self.gathering.ask(self.question)
        except Exception as error:
            self.told = error


def _queued(gathering: Gathering[int, int], questions: Sequence[int]) -> list[Asking]:
    """Asks in this order: each begins to wait before the next one asks."""
    asking = []
    for number, question in enumerate(questions, 1):
        asking.append(Asking(gathering, question))
        while len(gathering._waiting) < number:
            threading.Event().wait(0.001)
    return asking


def _told(asking: Sequence[Asking]) -> list[int | Exception | None]:
    for thread in asking:
        thread.join(30)
    return [thread.told for thread in asking]


def test_who_asks_alone_is_answered_at_once() -> None:
    answerer = Answerer()
    answerer.may.release()
    assert Gathering[int, int](answerer).ask(3) == 6
    assert answerer.asked == [[3]]


def test_those_who_ask_meanwhile_are_answered_together_in_order_and_at_most_so_many() -> None:
    answerer = Answerer()
    gathering = Gathering[int, int](answerer, most=3)
    first = Asking(gathering, 1)
    assert answerer.begun.acquire(timeout=30)
    others = _queued(gathering, [2, 3, 4, 5])
    for _ in range(3):
        answerer.may.release()
    assert _told([first, *others]) == [2, 4, 6, 8, 10]
    assert answerer.asked == [[1], [2, 3, 4], [5]]
    answerer.may.release()
    assert gathering.ask(6) == 12


def test_an_error_is_told_to_those_whom_it_concerns() -> None:
    answerer = Answerer()
    gathering = Gathering[int, int](answerer, most=2)
    first = Asking(gathering, 1)
    assert answerer.begun.acquire(timeout=30)
    others = _queued(gathering, [-2, 3, 0, 4])
    for _ in range(3):
        answerer.may.release()
    told = _told([first, *others])
    assert (told[0], told[2]) == (2, 6)
    assert [type(told[index]) for index in (1, 3, 4)] == [ValueError, ZeroDivisionError, ZeroDivisionError]
    answerer.may.release()
    with pytest.raises(ValueError, match="-5"):
        gathering.ask(-5)
