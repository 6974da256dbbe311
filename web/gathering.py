"""Answers questions that several threads ask at the same time together, such as by one transaction.

Nothing waits for others to come: who asks while nobody is answered is answered at once. Those who ask meanwhile are
answered together afterwards.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")


class _Asked(Generic[Q, A]):
    """A question, and its answer or error once ``gate`` is open. ``leads``: its thread has to answer it."""

    def __init__(self, question: Q) -> None:
        self.question = question
        self.answer: A | Exception = RuntimeError("the thread that was to answer has ended")
        self.leads = False
        self.gate = threading.Lock()
        self.gate.acquire()


class Gathering(Generic[Q, A]):
    """Passes the questions of several threads to ``answer``, which gives an answer or an error for each, in order.

    One thread at a time runs ``answer``: one of those who ask, with at most ``most`` questions, its own among them.
    """

    def __init__(self, answer: Callable[[Sequence[Q]], Sequence[A | Exception]], *, most: int = 64) -> None:
        self._answer = answer
        self._most = most
        self._lock = threading.Lock()
        self._waiting: deque[_Asked[Q, A]] = deque()
        self._answering = False

    def ask(self, question: Q) -> A:
        """Returns the answer. Raises the question's error, or what ``answer`` raised for all of its questions."""
        mine = _Asked[Q, A](question)
        with self._lock:
            mine.leads = not self._answering
            self._answering = True
            self._waiting.append(mine)
        if not mine.leads:
            mine.gate.acquire()
        if mine.leads:
            self._answer_some()
        if isinstance(mine.answer, Exception):
            raise mine.answer
        return mine.answer

    def _answer_some(self) -> None:
        """Answers the questions that wait longest, and lets the next thread go on."""
        with self._lock:
            asked = [self._waiting.popleft() for _ in range(min(self._most, len(self._waiting)))]
        try:
            answers = self._answer([one.question for one in asked])
            for one, answer in zip(asked, answers, strict=True):
                one.answer = answer
        except Exception as error:
            for one in asked:
                one.answer = error
        finally:
            with self._lock:
                following = self._waiting[0] if self._waiting else None
                self._answering = following is not None
            if following is not None:
                following.leads = True
                following.gate.release()
            for one in asked:
                if not one.leads:
                    one.gate.release()
