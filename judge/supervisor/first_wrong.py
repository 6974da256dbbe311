"""Finds the round, or the size of an axis, from which on an answer is wrong."""

from __future__ import annotations

import time
from collections.abc import Callable

from judge.packs.errors import PackError
from judge.packs.form.expressions import ExpressionError
from judge.packs.pack import Case, Pack

#: How long sizes are tried, in seconds; the call under way is finished.
_MOST_S = 3.0


def first_wrong(fewest: int, wrong: int, is_right: Callable[[int], bool | None]) -> int | None:
    """Returns the smallest count whose answer is wrong, from ``fewest`` to ``wrong``, which is known to be.

    ``is_right`` tries a count, of rounds for instance; where it returns None the search ends without an answer. A
    kernel that is wrong from some count on is taken to stay wrong. The least is tried first: most mistakes show there.
    """
    right = fewest - 1
    while wrong - right > 1:
        count = (right + wrong) // 2 if right >= fewest else right + 1
        answer = is_right(count)
        if answer is None:
            return None
        right, wrong = (count, wrong) if answer else (right, count)
    return wrong


def first_wrong_size(
    pack: Pack, case: Case, is_right: Callable[[Case], bool | None], *, clock: Callable[[], float] = time.monotonic
) -> str:
    """Returns the size from which on a case's answer, which is wrong, is wrong, in words; empty if none is found.

    One axis after the other is made as small as the answer stays wrong, larger ones first. ``is_right`` judges a case,
    and returns None if it cannot. Inputs that a user has typed have one size.
    """
    if case.typed:
        return ""
    until = clock() + _MOST_S
    told = ""
    steps = {axis.name: (axis.multiple_of, -(-max(axis.min, 1) // axis.multiple_of)) for axis in pack.axes}
    for name, size in sorted(case.axes.items(), key=lambda each: -each[1]):
        step, fewest = steps[name]

        def is_right_with(count: int, name: str = name, step: int = step, case: Case = case) -> bool | None:
            smaller = case.with_variable(name, count * step)
            try:
                fits = clock() <= until and all(each.holds(smaller.variables) for each in pack.constraints)
                return is_right(smaller) if fits else None
            except (PackError, ExpressionError):
                # Neither data that code makes nor an expression may exist in every size.
                return None

        first = first_wrong(fewest, size // step, is_right_with)
        if first is None:
            continue
        case = case.with_variable(name, first * step)
        if first > fewest:
            others = ", ".join(f"{other} = {number}" for other, number in case.axes.items() if other != name)
            where = f" (where {others})" if others else ""
            told = f"it is right with {name} = {(first - 1) * step} and wrong with {first * step}{where}"
    return told
