"""The faults that members of a class have in common: the messages of their last attempts at a challenge."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from judge.verdict import Verdict
from store.models import ClassMember
from store.teaching.grades import messages
from store.teaching.points import Attempt
from web.classes.cells import Cell, Column, Row
from web.formatting import verdict_title

#: A message is the same with other numbers in it: inputs are drawn anew for each submission, and lines move.
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+(?:[.,]\d+)*(?:e[+-]?\d+)?")
#: A line of the submission in a message.
_LINE = re.compile(r"(?:\blines? |kernel\.\w+:)(\d+)")
_MOST_CHARACTERS = 160
_FEWEST_MEMBERS = 2
_MOST_FAULTS = 20


@dataclass(frozen=True, slots=True)
class Fault:
    """A message that ``members`` got for their last attempts at a challenge, with other numbers in it.

    ``text`` is the message of one of them, and ``lines`` are the lines that the messages name, the most frequent first.
    """

    column: Column
    verdict: str
    text: str
    lines: Sequence[int]
    #: Each with the address of their attempts, escaped.
    members: Sequence[tuple[ClassMember, str]]


def common_faults(session: Session, columns: Sequence[Column], rows: Sequence[Row]) -> list[Fault]:
    """Returns the faults of at least two of the rows' members, the most common first; 20 at most."""
    failed = [
        (place, row.member, cell, last)
        for row in rows
        for place, cell in enumerate(row.cells)
        if cell is not None and (last := _last_failed(cell)) is not None
    ]
    said = messages(session, [last.public_id for _, _, _, last in failed])
    groups: dict[tuple[int, str, str], list[tuple[ClassMember, Cell, str]]] = {}
    for place, member, cell, last in failed:
        message = said.get(last.public_id, "")
        key = place, last.verdict or "", without_numbers(message)
        groups.setdefault(key, []).append((member, cell, message))
    found = [
        Fault(
            columns[place],
            verdict,
            shortened(group[-1][2] or verdict_title(verdict)),
            _lines(message for _, _, message in group),
            [(member, cell.url) for member, cell, _ in group],
        )
        for (place, verdict, _), group in groups.items()
        if len(group) >= _FEWEST_MEMBERS
    ]
    return sorted(found, key=lambda fault: -len(fault.members))[:_MOST_FAULTS]


@functools.lru_cache(maxsize=10_000)
def without_numbers(message: str) -> str:
    """Returns a message with one sign for each number in it."""
    return _NUMBER.sub("#", message)


def shortened(message: str) -> str:
    """Returns a message as a table shows it: with a capital, and cut."""
    short = message if len(message) <= _MOST_CHARACTERS else f"{message[: _MOST_CHARACTERS - 1]}…"
    return f"{short[:1].upper()}{short[1:]}"


def _lines(texts: Iterable[str]) -> list[int]:
    return [line for line, _ in Counter(int(line) for text in texts for line in _LINE.findall(text)).most_common()]


def _last_failed(cell: Cell) -> Attempt | None:
    """Returns the last judged attempt of a member who has not reached the target, if it was not accepted."""
    if cell.grade.reached:
        return None
    last = next((each for each in reversed(cell.attempts) if each.is_judged), None)
    return None if last is None or last.verdict == Verdict.ACCEPTED else last
