"""Finds the round from which on the answer of an iterative challenge is wrong, and the size of an axis."""

from __future__ import annotations

import time
from collections.abc import Callable

from judge.packs.errors import PackError
from judge.packs.pack import Case, Pack

#: How long sizes are tried, in seconds; the call under way is finished.
_MOST_S = 3.0


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


def first_wrong_size(
    pack: Pack, case: Case, is_right: Callable[[Case], bool | None], *, clock: Callable[[], float] = time.monotonic
) -> str:
    """Returns the size from which on a case's answer, which is wrong, is wrong, in words; empty if none is found.

    One axis after the other is made as small as the answer stays wrong, larger ones first. ``is_right`` judges a case,
    and returns None if it cannot.
    """
    until = clock() + _MOST_S
    told = ""
    steps = {axis.name: (axis.multiple_of, -(-max(axis.min, 1) // axis.multiple_of)) for axis in pack.axes}
    for name, size in sorted(case.axes.items(), key=lambda each: -each[1]):
        step, fewest = steps[name]

        def is_right_with(count: int, name: str = name, step: int = step, case: Case = case) -> bool | None:
            smaller = case.with_variable(name, count * step)
            if clock() > until or not all(constraint.holds(smaller.variables) for constraint in pack.constraints):
                return None
            try:
                return is_right(smaller)
            except PackError:
                # Data that code makes may not exist in every size.
                return None

        first = first_wrong_round(fewest, size // step, is_right_with)
        if first is None:
            continue
        case = case.with_variable(name, first * step)
        if first > fewest:
            others = ", ".join(f"{other} = {number}" for other, number in case.axes.items() if other != name)
            where = f" (where {others})" if others else ""
            told = f"it is right with {name} = {(first - 1) * step} and wrong with {first * step}{where}"
    return told
