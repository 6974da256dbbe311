"""The lookup of a leaderboard, for the page and the API."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from markupsafe import Markup
from sqlalchemy.orm import Session

from judge.interval import cards_in_words
from judge.languages.base import Language
from judge.languages.registry import BUILTIN_LANGUAGES
from judge.packs.medals import Medal
from judge.packs.pack import Pack
from judge.recheck import RecheckOutcome
from store.boards.board_key import BoardKey
from store.boards.cards import NO_CARDS, BoardCards, board_cards
from store.boards.leaderboards import (
    LeaderboardEntry,
    ListedResult,
    count_tries,
    leaderboard,
    place_on_board,
    scores_after_giving_up,
)
from store.boards.listing import best_of_user, list_boards
from web.challenges.shown import find_pack
from web.devices import DeviceChoice, device_choices
from web.formatting import interval, seconds, significant, whole
from web.leaderboard.values import read_values
from web.pictures.charts import distribution_chart, interval_bar
from web.problems import unknown
from web.services import Services
from web.site import site_settings
from web.submissions.accepting import chosen_language
from web.submissions.modelled_time import gpu_title

#: The scale of the error bars begins at the best entry and spans this many intervals of median width.
WINDOW_INTERVALS = 16
#: The width of the best entry's bar, in per cent.
LEAST_WIDTH = 2.0
#: The number of first entries that an audit times on one card.
_FIRST = 3
#: The entries on a page of a board.
PAGE = 100


@dataclass(frozen=True, slots=True)
class ErrorBar:
    """The interval of a measured time, as text and as a chart.

    For an entry beyond the scale, ``chart`` is empty and ``factor`` gives its time as a multiple of the best.
    """

    interval: str
    chart: Markup
    factor: str


@dataclass(frozen=True, slots=True)
class OwnPlace:
    """Where a user stands: the rank and the position among ``users``, its page, and the user's best value."""

    rank: int
    position: int
    users: int
    page: int
    value: float


@dataclass(frozen=True, slots=True)
class Distribution:
    """All times of a board as a picture, with one's own marked (else the best), and their quartiles."""

    chart: Markup
    quartiles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Board:
    """A challenge's board on ``device`` (None: no device was ever seen). ``device_keys`` are the selectable devices."""

    pack: Pack
    device: str | None
    device_keys: tuple[str, ...]
    device_names: dict[str, str]
    entries: tuple[LeaderboardEntry, ...]
    #: The page that ``entries`` are, from 1, and how many pages there are.
    page: int = 1
    pages: int = 1
    #: The best value of the whole board; 0 if it is empty.
    best_value: float = 0.0
    #: How many people are on the whole board.
    users: int = 0
    #: The best times of those who gave the challenge up, which have no place.
    after_giving_up: tuple[ListedResult, ...] = ()
    #: Whether an entry in which the emulator finds a fault does not count as audited.
    withholds_audited: bool = False
    #: The language whose entries are shown alone; None: all.
    chosen_language: str | None = None
    #: The cards on which the whole board was timed.
    cards: BoardCards = NO_CARDS

    @property
    def cards_in_words(self) -> str:
        """A sentence about the cards that the times were measured on; empty where there is one."""
        first = self.entries[:_FIRST] if self.page == 1 and self.chosen_language is None else ()
        again = len(first) if all(each.audited_at and each.card == first[0].card for each in first) else 0
        return cards_in_words(len(self.cards.cards), self.cards.spread, again)

    @property
    def languages(self) -> tuple[Language, ...]:
        """The languages that submissions may be in."""
        return tuple(BUILTIN_LANGUAGES.of(name) for name in self.pack.languages)

    @property
    def has_languages(self) -> bool:
        """Whether entries are in several languages, or in another than the challenge's usual one."""
        return any(entry.language != self.pack.languages[0] for entry in self.entries)

    def language(self, entry: LeaderboardEntry) -> str:
        """Returns the name of an entry's language."""
        return BUILTIN_LANGUAGES.of(entry.language).title

    @property
    def metric(self) -> str | None:
        """The metric of the ranking (``judge.measurements.Measurement.scale``); None on an empty board."""
        return self.entries[0].metric if self.entries else None

    @property
    def key(self) -> BoardKey | None:
        """Names the board in the store; None on an empty board."""
        if self.device is None or self.metric is None:
            return None
        return BoardKey(self.pack.slug, self.device, self.pack.major, self.metric)

    def medal(self, entry: LeaderboardEntry) -> Medal | None:
        """Returns the medal that an entry earns, or None."""
        medals = self.pack.medals_for(entry.metric)
        return None if medals is None else medals.earned(entry.roofline_share)

    @property
    def has_shares(self) -> bool:
        """Whether the share of the roofline is known of any entry of the page."""
        return any(entry.roofline_share is not None for entry in self.entries)

    @property
    def checks(self) -> bool:
        """Whether any entry of the page was, or will be, checked on the emulator."""
        return any(entry.recheck for entry in self.entries)

    def is_audited(self, entry: LeaderboardEntry) -> bool:
        """Returns whether an entry counts as audited."""
        return entry.audited and not self._withheld(entry)

    def why_not_audited(self, entry: LeaderboardEntry) -> str | None:
        """Returns why an entry that an audit timed does not count as audited; None for others."""
        withheld = entry.audited and self._withheld(entry)
        return entry.recheck_headline if withheld else entry.not_audited

    def _withheld(self, entry: LeaderboardEntry) -> bool:
        return self.withholds_audited and entry.recheck == RecheckOutcome.FOUND

    @property
    def modelled_gpu(self) -> str | None:
        """The GPU of the modelled times; None if the board ranks measured times."""
        kind, _, rest = (self.metric or "").partition("/")
        return gpu_title(rest.partition("/")[0]) if kind == "modelled_time_s" else None

    @property
    def error_bars(self) -> tuple[ErrorBar, ...]:
        """The error bar of each entry, all on the page's scale; empty if no entry has an interval."""
        widths = [entry.high - entry.low for entry in self.entries if entry.low is not None and entry.high is not None]
        if not widths:
            return ()
        best = min(self.entries, key=lambda entry: entry.value)
        first, nearest = _ends(best) or (best.value, best.value)
        furthest = max(entry.value if entry.high is None else entry.high for entry in self.entries)
        last = min(furthest, max(nearest, first + WINDOW_INTERVALS * statistics.median(widths)))
        return tuple(_error_bar(entry, self.best_value, (first, last)) for entry in self.entries)

    @property
    def bar_widths(self) -> tuple[float, ...]:
        """The bar of each entry in per cent: its distance from the best, on a logarithmic scale to the page's slowest.

        Entries that are close to each other are told apart however far the last one is behind.
        """
        values = [entry.value for entry in self.entries]
        if not values or min(values) <= 0 or self.best_value <= 0:
            return tuple(LEAST_WIDTH for _ in values)
        span = math.log(max(values) / self.best_value)
        shares = [math.log(value / self.best_value) / span if span > 0 else 0.0 for value in values]
        return tuple(round(LEAST_WIDTH + (100 - LEAST_WIDTH) * share, 1) for share in shares)


def _error_bar(entry: LeaderboardEntry, best: float, window: tuple[float, float]) -> ErrorBar:
    multiple = significant(entry.value / best, 4) if best else "1"
    interval_text = interval(entry.low, entry.high)
    if entry.value > window[1]:
        return ErrorBar(interval_text, Markup(""), f"{multiple}×")
    description = f"95 % interval {interval_text}" if interval_text else "no interval"
    title = f"{seconds(entry.value, 4)}, {multiple} times the best, {description}"
    return ErrorBar(interval_text, interval_bar(entry.value, _ends(entry), window, title), "")


def _ends(entry: LeaderboardEntry) -> tuple[float, float] | None:
    return None if entry.low is None or entry.high is None else (entry.low, entry.high)


def find_board(
    services: Services,
    session: Session,
    slug: str,
    device: str | None,
    limit: int | None = None,
    page: int = 1,
    language: str | None = None,
) -> Board:
    """Returns a page of a board, of ``limit`` entries (None: PAGE); beyond the last page, the last one.

    Without ``device`` it is the board of the device with the most users. With a ``language`` there is one page, of
    those whose best is in it. Raises Problem (404), and (422) for a language that the challenge does not take.
    """
    limit = limit or PAGE
    pack = find_pack(slug)
    language = None if language is None else chosen_language(pack, language)
    boards = [board for board in list_boards(session, challenge=slug) if board.key.pack_major == pack.major]
    devices = device_choices(session, services.settings, services.clock)
    keys = tuple(dict.fromkeys([*(known.key for known in devices), *(board.key.device_key for board in boards)]))
    if device is None and boards:
        device = max(boards, key=lambda board: board.users).key.device_key
    if device is None and keys:
        device = keys[0]
    if device is not None and device not in keys:
        raise unknown("device", device, keys)
    summary = next((board for board in boards if board.key.device_key == device), None)
    if device is None:
        return Board(pack, device, keys, device_names(devices), ())
    key = BoardKey(slug, device, pack.major) if summary is None else summary.key
    marked = tuple(scores_after_giving_up(session, key))
    if summary is None:
        return Board(pack, device, keys, device_names(devices), (), after_giving_up=marked)
    pages = max(1, -(-summary.users // limit)) if language is None else 1
    page = min(page, pages)
    entries = leaderboard(session, key, limit=limit, offset=(page - 1) * limit, language=language)
    return Board(
        pack,
        device,
        keys,
        device_names(devices),
        tuple(entries),
        page,
        pages,
        summary.best_value,
        summary.users,
        marked,
        withholds_audited(has_rechecks=summary.has_rechecks),
        language,
        board_cards(session, key),
    )


def withholds_audited(*, has_rechecks: bool) -> bool:
    """Returns whether a board's entries do not count as audited while the emulator finds a fault in them.

    ``has_rechecks``: the board began after there were checks.
    """
    setting = site_settings().withhold_audited
    return setting == "all boards" or (setting == "new boards" and has_rechecks)


def find_own_place(session: Session, board: Board, user_id: int) -> OwnPlace | None:
    """Returns where a user stands on a board, or None if the user is not on it."""
    if (key := board.key) is None:
        return None
    place = place_on_board(session, key, user_id=user_id)
    if place is None:
        return None
    best = best_of_user(session, user_id=user_id)[key]
    return OwnPlace(place.rank, place.position, board.users, 1 + (place.position - 1) // PAGE, best)


def find_distribution(services: Services, session: Session, board: Board, own: OwnPlace | None) -> Distribution | None:
    """Returns how all times of a board are spread; None where there are too few, too many, or no times."""
    if (key := board.key) is None:
        return None
    values = read_values(services, session, key, users=board.users)
    if not values:
        return None
    marked, name = (values[0], "the best") if own is None else (own.value, "yours")
    title = f"The best times of {whole(len(values))} people"
    chart = distribution_chart(values, marked, seconds, title, name)
    quarters = tuple(seconds(values[round(share * (len(values) - 1))]) for share in (0, 0.25, 0.5, 0.75, 1))
    return Distribution(chart, quarters)


def find_tries(session: Session, board: Board) -> dict[str, int]:
    """Returns how many submissions each user on the page of a board made to it, by name."""
    return {} if board.key is None else count_tries(session, board.key, board.entries)


def gap(value: float, best: float) -> str:
    """Returns how far a value lies behind the best, in words: ``best``, ``+8.0 %`` or ``3.2×``."""
    if value <= best or best <= 0:
        return "best"
    ratio = value / best
    return f"+{100 * (ratio - 1):.1f} %" if ratio < 2 else f"{significant(ratio, 3)}×"


def device_names(devices: list[DeviceChoice]) -> dict[str, str]:
    """Returns the names of the devices by key."""
    return {device.key: device.name for device in devices}
