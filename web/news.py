"""Which of the submissions that are followed have new events: one look at the database for all of them.

A hundred looks a second are bearable where one thread of the server's process takes them, and not where each stream
does. Where the kernel tells of what is written to the database, it looks at once. The thread runs only while somebody
listens: it is begun by the first listener (the server forks before) and ends after the last. Its look compares the
number of each submission's last event with the one that its stream has read, so that it does not matter who wrote
first, when a stream began to listen, or whether a look failed. No connection is held between two looks.

It saves time and carries nothing: a stream reads its events itself, and looks now and then without being told to.
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

LOOK_S = 0.01
#: After a look that failed: a database that is away, or has too much to do, is not helped by being asked.
AWAY_S = 1.0


class Listener:
    """One stream's ear, a context manager. Belongs to the thread that reads the stream."""

    def __init__(self, public_id: str, news: News) -> None:
        self.public_id = public_id
        #: The number of the last event that was read; it is woken for later ones. None: it has read nothing yet, or
        #: could not, and is not woken.
        self.seen: int | None = None
        self._news = news
        self._woken = threading.Event()

    def wait(self, seconds: float) -> bool:
        """Until there is something new, or ``seconds`` are over and the answer is False."""
        woken = self._woken.wait(seconds)
        self._woken.clear()
        return woken

    def wake(self) -> None:
        """End its wait, or the next one."""
        self._woken.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._news.leave(self)


class News:
    """Wakes those who listen when their submission has a new event. ``watch`` makes what tells of writes to the
    database."""

    def __init__(self, readers: sessionmaker[Session], watch: Callable[[], FileWatch]) -> None:
        self._readers = readers
        self._watch = watch
        # One that a thread may take twice: the garbage collector can end a forgotten stream at any line.
        self._lock = threading.RLock()
        # Weak: who is forgotten without having left is gone all the same.
        self._listeners: weakref.WeakSet[Listener] = weakref.WeakSet()
        self._thread: threading.Thread | None = None

    def listen(self, public_id: str) -> Listener:
        """A listener for the submission's events; begins the thread where none runs."""
        listener = Listener(public_id, self)
        begun = None
        with self._lock:
            self._listeners.add(listener)
            if self._thread is None:
                self._thread = begun = threading.Thread(target=self._run, name="news", daemon=True)
        if begun is not None:
            try:
                begun.start()
            except RuntimeError as error:
                log.warning("no thread for the news: streams look by themselves", error=str(error))
                with self._lock:
                    self._thread = None
        return listener

    def leave(self, listener: Listener) -> None:
        """The listener is told no more."""
        with self._lock:
            self._listeners.discard(listener)

    @property
    def thread(self) -> threading.Thread | None:
        """The one that looks, while there is one."""
        return self._thread

    def _run(self) -> None:
        try:
            with contextlib.closing(self._watch()) as writes:
                while self._is_wanted():
                    if self._look():
                        writes.wait(LOOK_S)
                    else:
                        time.sleep(AWAY_S)
        except Exception:
            log.exception("the news ended: streams look by themselves until the next one begins")
        finally:
            self._ended()

    def _is_wanted(self) -> bool:
        with self._lock:
            if not self._listeners:
                # Under the same lock as the question: who comes from here on begins a new thread.
                self._ended()
                return False
            return True

    def _ended(self) -> None:
        with self._lock:
            if self._thread is threading.current_thread():
                self._thread = None

    def _look(self) -> bool:
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
            # Asked again: its own look may have failed meanwhile.
            if (seen := listener.seen) is not None and newest.get(listener.public_id, 0) > seen:
                listener.wake()
        return True
