"""Caches expensive queries for some seconds, so that few requests wait for them.

What is kept is read anew beside the requests once it is older than ``KEEP``: they get the older one meanwhile, as long
as it is not older than twice that. A small site keeps nothing: who reads says whether what was read was dear.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy.orm import Session, sessionmaker

from store.clock import Clock
from web.background import Background

T = TypeVar("T")
KEEP = timedelta(seconds=10)
#: The most entries of the cache: the least recently used goes first.
MOST = 32


@dataclass(slots=True)
class _Entry:
    value: Any
    read_at: datetime
    being_read: bool = False


class Kept:
    """The cache of one process. Safe to use from several threads."""

    def __init__(self, readers: sessionmaker[Session]) -> None:
        self._readers = readers
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._lock = threading.Lock()
        self._background = Background()

    def read(
        self,
        key: Hashable,
        read: Callable[[Session], T],
        *,
        session: Session,
        clock: Clock,
        is_dear: Callable[[T], bool],
    ) -> T:
        """Returns the result of ``read``, now with ``session`` or from a short time ago.

        ``read`` also runs in another thread: it must use nothing of the request but the session that it is given.
        """
        with self._lock:
            entry = self._entries.get(key)
            age = None if entry is None else clock() - entry.read_at
            if entry is not None and age is not None and timedelta() <= age <= 2 * KEEP:
                self._entries.move_to_end(key)
                if age > KEEP and not entry.being_read:
                    entry.being_read = True
                    self._background.do("read anew", lambda: self._read_anew(key, read, clock, is_dear))
                value: T = entry.value
                return value
        return self._keep(key, read(session), clock(), is_dear)

    def wait(self) -> None:
        """Returns when everything that is being read anew is there."""
        self._background.wait()

    def _read_anew(
        self, key: Hashable, read: Callable[[Session], T], clock: Clock, is_dear: Callable[[T], bool]
    ) -> None:
        try:
            begun = clock()
            with self._readers() as session:
                self._keep(key, read(session), begun, is_dear)
        finally:
            with self._lock:
                entry = self._entries.get(key)
                if entry is not None:
                    entry.being_read = False

    def _keep(self, key: Hashable, value: T, read_at: datetime, is_dear: Callable[[T], bool]) -> T:
        with self._lock:
            self._entries.pop(key, None)
            if is_dear(value):
                self._entries[key] = _Entry(value, read_at)
                while len(self._entries) > MOST:
                    self._entries.popitem(last=False)
        return value
