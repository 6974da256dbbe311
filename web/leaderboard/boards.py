"""The lookup of a leaderboard, for the page and the API."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from markupsafe import Markup
from sqlalchemy.orm import Session

from judge.packs.pack import Pack
from store.leaderboards import LeaderboardEntry, leaderboard, list_boards
from web.charts import interval_bar
from web.devices import DeviceChoice, device_choices
from web.formatting import interval, seconds, significant
from web.problems import unknown
from web.services import Services
from web.submissions.accepting import find_pack
from web.submissions.modelled_time import gpu_title

#: The scale of the error bars begins at the best entry and spans this many intervals of median width.
WINDOW_INTERVALS = 16


@dataclass(frozen=True, slots=True)
class ErrorBar:
    """The interval of a measured time, as text and as a chart.

    For an entry beyond the scale, ``chart`` is empty and ``factor`` gives its time as a multiple of the best.
    """

    interval: str
    chart: Markup
    factor: str


@dataclass(frozen=True, slots=True)
class Board:
    """A challenge's board on ``device`` (None: no device was ever seen). ``device_keys`` are the selectable devices."""

    pack: Pack
    device: str | None
    device_keys: tuple[str, ...]
    device_names: dict[str, str]
    entries: tuple[LeaderboardEntry, ...]

    @property
    def metric(self) -> str | None:
        """The metric of the ranking (``judge.judgement.Measurement.scale``); None on an empty board."""
        return self.entries[0].metric if self.entries else None

    @property
    def modelled_gpu(self) -> str | None:
        """The GPU of the modelled times; None if the board ranks measured times or instruction counts."""
        kind, _, rest = (self.metric or "").partition("/")
        return gpu_title(rest.partition("/")[0]) if kind == "modelled_time_s" else None

    @property
    def error_bars(self) -> tuple[ErrorBar, ...]:
        """The error bar of each entry, all on one scale; empty if no entry has an interval."""
        widths = [entry.high - entry.low for entry in self.entries if entry.low is not None and entry.high is not None]
        if not widths:
            return ()
        best = min(self.entries, key=lambda entry: entry.value)
        first, nearest = _ends(best) or (best.value, best.value)
        furthest = max(entry.value if entry.high is None else entry.high for entry in self.entries)
        last = min(furthest, max(nearest, first + WINDOW_INTERVALS * statistics.median(widths)))
        return tuple(_error_bar(entry, best.value, (first, last)) for entry in self.entries)


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


def find_board(services: Services, session: Session, slug: str, device: str | None, limit: int = 100) -> Board:
    """Returns a board; without ``device``, that of the device with the most users. Raises Problem (404)."""
    pack = find_pack(services, slug)
    boards = [board for board in list_boards(session, challenge=slug) if board.pack_major == pack.major]
    devices = device_choices(session, services.settings, services.clock)
    keys = tuple(dict.fromkeys([*(known.key for known in devices), *(board.device_key for board in boards)]))
    if device is None and boards:
        device = max(boards, key=lambda board: board.users).device_key
    if device is None and keys:
        device = keys[0]
    if device is not None and device not in keys:
        raise unknown("device", device, keys)
    entries = (
        ()
        if device is None
        else leaderboard(session, challenge=slug, device_key=device, pack_major=pack.major, limit=limit)
    )
    return Board(pack, device, keys, device_names(devices), tuple(entries))


def device_names(devices: list[DeviceChoice]) -> dict[str, str]:
    """Returns the names of the devices by key."""
    return {device.key: device.name for device in devices}
