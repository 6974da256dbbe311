"""The list of challenges: a row for each with its figures, and the filters and the order that its URL asks for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy.orm import Session

from judge.packs.pack import Pack
from judge.tracks.track import Tracks
from store.boards.board_key import BoardKey
from store.boards.listing import best_of_user
from store.boards.totals import solved_challenges, tried_challenges
from web.challenges.figures import Figures
from web.challenges.search import MAX_CHARACTERS, search

Status = Literal["solved", "tried", "new"]
DIFFICULTIES = {"easy": 0, "medium": 1, "hard": 2}
#: The first is the usual one.
SORTS = {
    "track": "Track", "difficulty": "Difficulty", "title": "Name", "solvers": "Solvers", "acceptance": "Acceptance",
}  # fmt: skip
_USUAL = next(iter(SORTS))
STATUSES = {"solved": "Solved", "tried": "Tried", "new": "Not tried"}


@dataclass(frozen=True, slots=True)
class ChallengeRow:
    """A challenge in the list. ``best_s`` and ``own_s`` are times on the chosen device, in seconds; None for none.

    ``solvers`` counts the users on that device's board. ``acceptance`` is the share of judged submissions that were
    accepted. ``track`` is the slug of its track, empty for none; ``lesson`` the place of the track and in it.
    """

    pack: Pack
    track: str
    lesson: tuple[int, int]
    status: Status
    solvers: int
    acceptance: float | None
    best_s: float | None
    own_s: float | None


def by_difficulty(pack: Pack) -> tuple[int, str]:
    """Returns the key that sorts challenges from easy to hard, then by title."""
    return DIFFICULTIES.get(pack.difficulty, len(DIFFICULTIES)), pack.title.casefold()


def challenge_rows(
    session: Session,
    packs: Iterable[Pack],
    tracks: Tracks,
    figures: Figures,
    *,
    user_id: int | None,
    device: str | None,
) -> list[ChallengeRow]:
    """Returns a row for each pack, with the visitor's status and the times on a device."""
    solved: frozenset[str] = frozenset()
    tried: frozenset[str] = frozenset()
    own: dict[BoardKey, float] = {}
    if user_id is not None:
        solved = solved_challenges(session, user_id=user_id)
        tried = tried_challenges(session, user_id=user_id)
        own = best_of_user(session, user_id=user_id)

    def row(pack: Pack) -> ChallengeRow:
        board = figures.boards.get((pack.slug, device or ""))
        if board is not None and board.key.pack_major != pack.major:
            board = None
        counts = figures.counts.get(pack.slug)
        found = tracks.of(pack.slug)
        return ChallengeRow(
            pack=pack,
            track="" if found is None else found[0].slug,
            lesson=(len(tracks.tracks) + 1, 0) if found is None else (found[0].order, found[0].steps.index(found[1])),
            status="solved" if pack.slug in solved else "tried" if pack.slug in tried else "new",
            solvers=0 if board is None else board.users,
            acceptance=None if counts is None or not counts.judged else counts.accepted / counts.judged,
            best_s=None if board is None else board.best_value,
            own_s=None if board is None else own.get(board.key),
        )

    return [row(pack) for pack in packs]


@dataclass(frozen=True, slots=True)
class Filters:
    """The list's filters and order, from its URL. Unknown values are ignored: they match nothing."""

    words: str = ""
    difficulty: str = ""
    tag: str = ""
    track: str = ""
    status: str = ""
    sort: str = _USUAL

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Filters:
        """Returns the filters that a URL's query names."""
        difficulty, status, sort = (query.get(name, "") for name in ("difficulty", "status", "sort"))
        return cls(
            words=query.get("q", "").strip()[:MAX_CHARACTERS],
            difficulty=difficulty if difficulty in DIFFICULTIES else "",
            tag=query.get("tag", "")[:100],
            track=query.get("track", "")[:100],
            status=status if status in STATUSES else "",
            sort=sort if sort in SORTS else _USUAL,
        )

    @property
    def any(self) -> bool:
        """Whether anything may be left out."""
        return bool(self.words or self.difficulty or self.tag or self.track or self.status)

    def apply(self, rows: Sequence[ChallengeRow]) -> list[ChallengeRow]:
        """Returns the rows that fit, in order: the best first for a search, unless another order is chosen."""
        found = search(self.words, {row.pack.slug: row.pack for row in rows}) if self.words else None
        fitting = [row for row in rows if self._fits(row) and (found is None or row.pack.slug in found)]
        if found is not None and self.sort == _USUAL:
            return sorted(fitting, key=lambda row: -found[row.pack.slug])
        return sorted(fitting, key=self._key)

    def _fits(self, row: ChallengeRow) -> bool:
        pack = row.pack
        return (
            self.difficulty in {"", pack.difficulty}
            and self.status in {"", row.status}
            and (not self.tag or self.tag in pack.tags)
            and self.track in {"", row.track}
        )

    def _key(self, row: ChallengeRow) -> tuple[float, int, int, str]:
        track, lesson = row.lesson
        first = {
            "title": 0.0,
            "difficulty": float(by_difficulty(row.pack)[0]),
            "track": float(track),
            "solvers": -float(row.solvers),
            "acceptance": 1.0 if row.acceptance is None else -row.acceptance,
        }[self.sort]
        level, title = by_difficulty(row.pack)
        return first, {"title": 0, "track": lesson}.get(self.sort, level), -row.solvers, title
