"""Ranks the members of a contest by their best results. Pure functions.

For each challenge, a member's result is the best of what counts, over all devices of the contest; devices are not
weighed against each other, so a contest usually has one. Then:

- ``places``: the sum of the places, a challenge without a result counting one place behind all members; less is better.
- ``time``: first who has results for more challenges, then the sum of result / best result; less is better.
- ``points``: the sum of 100 * best result / result, nothing for a challenge without one; more is better.
- ``targets``: the sum of 100 * target / result, at most 100 for a challenge, nothing for one without a result or a
  target; more is better.

Equal totals share a rank, and the next rank is left out.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from store.models.contests import Scoring


@dataclass(frozen=True, slots=True)
class Result:
    """A member's best result for a challenge: less is better. ``scale`` says what it is (``time_s``).

    ``audited``: it was timed again, together with the others that decide the contest.
    """

    value: float
    scale: str
    public_id: str
    audited: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """A member's result for a challenge and its place among all members' results; equal results share a place."""

    result: Result
    place: int


@dataclass(frozen=True, slots=True)
class Row:
    """A member's line. ``cells`` are in the order of the challenges, None where there is no result.

    ``tries``, in the same order, count the judged submissions.
    """

    rank: int
    username: str
    total: float
    cells: tuple[Cell | None, ...]
    tries: tuple[int, ...] = ()


def rank_members(
    scoring: Scoring,
    challenges: Sequence[str],
    members: Sequence[str],
    results: Mapping[tuple[str, str], Result],
    targets: Mapping[str, float] | None = None,
    tries: Mapping[tuple[str, str], int] | None = None,
) -> list[Row]:
    """Returns the standings, the first first. ``results`` and ``tries`` are by member and challenge.

    ``targets`` are by challenge.

    Members without any result come last, with the rank that they share.
    """
    cells: dict[str, list[Cell | None]] = {name: [] for name in members}
    aims: list[float | None] = []
    for challenge in challenges:
        values = sorted(results[name, challenge].value for name in members if (name, challenge) in results)
        if scoring is Scoring.TARGETS:
            aims.append((targets or {}).get(challenge))
        else:
            aims.append(values[0] if values else None)
        for name in members:
            found = results.get((name, challenge))
            place = None if found is None else 1 + bisect_left(values, found.value)
            cells[name].append(None if found is None or place is None else Cell(found, place))
    scored = [(_key_and_total(scoring, cells[name], aims, len(members)), name) for name in members]
    scored.sort(key=lambda each: (each[0][0], each[1].casefold()))
    rows: list[Row] = []
    for number, ((key, total), name) in enumerate(scored, start=1):
        same = rows and scored[number - 2][0][0] == key
        tried = tuple((tries or {}).get((name, challenge), 0) for challenge in challenges)
        rows.append(Row(rows[-1].rank if same else number, name, total, tuple(cells[name]), tried))
    return rows


def _key_and_total(
    scoring: Scoring, cells: Sequence[Cell | None], aims: Sequence[float | None], members: int
) -> tuple[tuple[float, ...], float]:
    """Returns the sort key, ascending, and the total that is shown. ``aims`` are the best results, or targets."""
    solved = sum(cell is not None for cell in cells)
    if scoring is Scoring.PLACES:
        total = float(sum(members + 1 if cell is None else cell.place for cell in cells))
        return (total,), total
    ratios = [
        cell.result.value / aim if aim else 1.0
        for cell, aim in zip(cells, aims, strict=True)
        if cell is not None and aim is not None
    ]
    if scoring is Scoring.TIME:
        total = round(sum(ratios), 9)
        return (-solved, total), total
    if scoring is Scoring.TARGETS:
        ratios = [max(ratio, 1.0) for ratio in ratios]
    points = round(sum(100.0 / ratio for ratio in ratios), 9)
    return (-points,), points
