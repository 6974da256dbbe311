"""Wakes live streams when their submission has new events: one thread polls the database for all of them.

A hundred queries a second are bearable from one thread of the server, but not from every stream. Where the kernel
reports writes to the database's files, the thread polls at once. It runs only while there are listeners: the first one
starts it (the server forks before that), and it ends after the last. A poll compares the number of each submission's
last event with the number that its stream has read, so it does not matter which came first, the event or the listener,
or whether a poll failed. No connection is held between two polls.

It saves time and carries no data: a stream reads its events itself, and polls now and then without being woken.
"""

from __future__ import annotations

import contextlib
import threading
import time
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import Self

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session, sessionmaker

from store.events import last_event_seqs
from store.inotify import FileWatch

log = structlog.get_logger(__name__)

POLL_S = 0.01
#: The pause after a failed poll: more queries would not help a database that is unavailable or overloaded.
RETRY_S = 1.0


class Listener:
    """Lets one stream wait for events; a context manager. Belongs to the thread that reads the stream."""

    def __init__(self, public_id: str, watcher: EventWatcher) -> None:
        self.public_id = public_id
        #: The number of the last event that the stream has read: later ones wake it. None: it has read nothing yet, or
        #: its last attempt failed; then nothing wakes it.
        self.seen: int | None = None
        self._watcher = watcher
        self._woken = threading.Event()

    def wait(self, seconds: float) -> bool:
        """Waits for a new event. Returns False if there was none within ``seconds``."""
        woken = self._woken.wait(seconds)
        self._woken.clear()
        return woken

    def wake(self) -> None:
        """Ends the current wait, or the next one."""
        self._woken.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._watcher.leave(self)


class EventWatcher:
    """Wakes each listener when its submission has a new event. ``watch`` opens a watch on the database's files."""

    def __init__(self, readers: sessionmaker[Session], watch: Callable[[], FileWatch]) -> None:
        self._readers = readers
        self._watch = watch
        # Reentrant: the garbage collector can end an abandoned stream at any line.
        self._lock = threading.RLock()
        # Weak: a listener that is abandoned without leaving disappears all the same.
        self._listeners: weakref.WeakSet[Listener] = weakref.WeakSet()
        self._thread: threading.Thread | None = None

    def listen(self, public_id: str) -> Listener:
        """Returns a listener for the submission's events, and starts the thread if none runs."""
        listener = Listener(public_id, self)
        begun = None
        with self._lock:
            self._listeners.add(listener)
            if self._thread is None:
                self._thread = begun = threading.Thread(target=self._run, name="event-watcher", daemon=True)
        if begun is not None:
            try:
                begun.start()
            except RuntimeError as error:
                log.warning("no thread watches for events: streams poll by themselves", error=str(error))
                with self._lock:
                    self._thread = None
        return listener

    def leave(self, listener: Listener) -> None:
        """Removes a listener."""
        with self._lock:
            self._listeners.discard(listener)

    @property
    def thread(self) -> threading.Thread | None:
        """The polling thread while it runs, else None."""
        return self._thread

    def _run(self) -> None:
        try:
            with contextlib.closing(self._watch()) as writes:
                while self._is_wanted():
                    if self._poll():
                        writes.wait(POLL_S)
                    else:
                        time.sleep(RETRY_S)
        except Exception:
            log.exception("the event watcher failed: streams poll by themselves until the next one opens")
        finally:
            self._ended()

    def _is_wanted(self) -> bool:
        with self._lock:
            if not self._listeners:
                # Still under the lock: a listener that comes from here on starts a new thread.
                self._ended()
                return False
            return True

    def _ended(self) -> None:
        with self._lock:
            if self._thread is threading.current_thread():
                self._thread = None

    def _poll(self) -> bool:
        with self._lock:
            listeners = [listener for listener in self._listeners if listener.seen is not None]
        if not listeners:
            return True
        try:
            with self._readers() as session:
                newest = last_event_seqs(session, {listener.public_id for listener in listeners})
        except SQLAlchemyError:
            return False
        for listener in listeners:
            # Read again: its own attempt may have failed meanwhile.
            if (seen := listener.seen) is not None and newest.get(listener.public_id, 0) > seen:
                listener.wake()
        return True
