"""Loads packs for a worker, and reloads them when a submission names an unknown or changed one."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from judge.errors import InternalError

if TYPE_CHECKING:
    from judge.packs.live import LivePacks
    from judge.packs.pack import Pack

log = structlog.get_logger(__name__)


class Packs:
    """The worker's packs. ``given`` replaces those on disk, for tests. Thread-safe."""

    def __init__(self, paths: Sequence[Path], *, given: Mapping[str, Pack] | None = None) -> None:
        self._paths = tuple(paths)
        self._given = given
        self._packs: Mapping[str, Pack] | None = given
        self._live: LivePacks | None = None
        self._lock = threading.Lock()

    def load(self) -> Mapping[str, Pack]:
        """Reads changed packs from disk and returns all by slug. Logs broken ones, which stay as they last were."""
        if self._given is not None:
            return self._given
        from judge.packs.live import LivePacks

        if self._live is None:
            self._live = LivePacks(self._paths, lambda problem: log.warning("pack.broken", problem=str(problem)))
        else:
            self._live.refresh()
        self._packs = self._live
        return self._live

    def find(self, slug: str, digest: str) -> Pack:
        """Returns the current pack, which has the given ``digest`` unless the pack has changed since.

        Raises InternalError if there is no such pack.
        """
        with self._lock:
            packs = self._packs if self._packs is not None else self.load()
            pack = packs.get(slug)
            if pack is None or pack.digest != digest:
                pack = self.load().get(slug)
        if pack is None:
            raise InternalError(f"this worker has no pack {slug}", "give the web and the workers the same pack paths")
        return pack
