"""The cells of the grade matrix: a member's work for a challenge, as the page shows it."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup, escape

from store.models import Assignment, ClassMember
from store.teaching.points import Attempt, Grade
from web.formatting import percent, points, seconds


class Shown(enum.StrEnum):
    """Which cells the page shows; its value is that of ``?show=``."""

    ALL = "all"
    STUCK = "stuck"
    NOT_BEGUN = "not-begun"
    LATE = "late"


@dataclass(frozen=True, slots=True)
class Column:
    """A challenge of an assignment. ``url`` is that of its attempts, with ``{}`` for the member, escaped.

    ``number`` and ``is_open`` are the assignment's: asking its row for each cell takes longer than the grade.
    """

    assignment: Assignment
    number: int
    is_open: bool
    challenge: str
    title: str
    url: str


class Cell(NamedTuple):
    """A member's work for a challenge. ``stuck`` is what its last tries have in common, empty if they do not.

    A tuple, because a class has thousands.
    """

    attempts: Sequence[Attempt]
    grade: Grade
    #: Of its attempts, escaped.
    url: str
    is_begun: bool
    is_late: bool
    stuck: str = ""

    @property
    def time_s(self) -> float | None:
        """The best time on the scale of the last one, in seconds."""
        best, metric = None, None
        for each in reversed(self.attempts):
            if each.accepted and each.value is not None:
                if best is None:
                    best, metric = each.value, each.metric
                elif each.value < best and each.metric == metric:
                    best = each.value
        return best

    def is_shown(self, shown: Shown) -> bool:
        """Returns whether a filter lets the cell through."""
        match shown:
            case Shown.ALL:
                return True
            case Shown.STUCK:
                return bool(self.stuck)
            case Shown.NOT_BEGUN:
                return not self.is_begun
            case Shown.LATE:
                return self.is_late

    def html(self, shown: Shown) -> str:
        """Returns the cell's HTML: points, last verdict, tries and best time, leading to the attempts."""
        if not self.attempts:
            return f'<span class="muted">{"not begun" if shown is Shown.NOT_BEGUN else "–"}</span>'
        last, time_s = self.attempts[-1].verdict or "…", self.time_s
        stuck = self.stuck if shown is Shown.STUCK else "stuck"
        return (
            f'<a href="{self.url}"><b>{"…" if self.grade.waiting else points(self.grade.points)}</b> '
            f'<span class="verdict {last}"><b>{last}</b></span> '
            f'<span class="small muted">{len(self.attempts)} {"try" if len(self.attempts) == 1 else "tries"}'
            f"{'' if time_s is None else f' · {seconds(time_s)}'}"
            f"{' late' if self.is_late else ''}</span></a>"
            f'{f"""<div class="small stuck">{escape(stuck)}</div>""" if self.stuck else ""}'
        )


@dataclass(frozen=True, slots=True)
class Row:
    """A member and their cells, of which None are filtered out."""

    member: ClassMember
    section: str
    cells: Sequence[Cell | None]
    share: float | None

    @property
    def total(self) -> str:
        """The total as the page shows it."""
        return "" if self.share is None else percent(self.share)

    def html(self, shown: Shown) -> Markup:
        """Returns the cells of the table. Written here: a template would take three times as long for thousands."""
        return Markup("".join(f"<td>{'' if each is None else each.html(shown)}</td>" for each in self.cells))  # noqa: S704 (text is escaped, the rest is numbers and addresses of ours)
