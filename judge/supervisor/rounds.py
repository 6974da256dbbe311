"""Finds the round from which on the answer of an iterative challenge is wrong."""

from __future__ import annotations

from collections.abc import Callable


def first_wrong_round(fewest: int, wrong: int, is_right: Callable[[int], bool | None]) -> int | None:
    """Returns the smallest number of rounds whose answer is wrong, from ``fewest`` to ``wrong``, which is known to be.

    ``is_right`` runs with so many rounds; where it returns None the search ends without an answer. A kernel that is
    wrong after some rounds is taken to stay wrong. The first round is tried first: most mistakes show there.
    """
    right = fewest - 1
    while wrong - right > 1:
        rounds = (right + wrong) // 2 if right >= fewest else right + 1
        answer = is_right(rounds)
        if answer is None:
            return None
        right, wrong = (rounds, wrong) if answer else (right, rounds)
    return wrong
