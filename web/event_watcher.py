"""Wakes live streams when their submission has new events or moves in the queue: one thread polls for all of them.

A hundred queries a second are bearable from one thread of the server, but not from every stream. With many streams a
query takes longer, and the pauses become longer too: the thread takes a bounded share of a processor. Where the kernel
reports writes to the database's files, the thread polls at once. It runs only while there are listeners: the first one
starts it (the server forks before that), and it ends after the last. A poll compares the number of each submission's
last event with the number that its stream has read, so it does not matter which came first, the event or the listener,
or whether a poll failed. No connection is held between two polls.

It carries no events: a stream reads its own, and now and then it does so without being woken. It does carry positions
in the queue, since one job that ends moves everybody behind it.
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

from store.queue.events import last_event_seqs
from store.queue.inotify import FileWatch
from store.queue.turns import expected_wait, queue_positions

log = structlog.get_logger(__name__)

POLL_S = 0.01
#: Seconds between two readings of the queues.
MOVES_S = 1.0
#: A pause is at least so many times as long as the poll before it took.
_REST = 9.0
#: The pause after a failed poll: more queries would not help a database that is unavailable or overloaded.
RETRY_S = 1.0


class Listener:
    """Lets one stream wait for events and moves in the queue; a context manager."""

    def __init__(self, public_id: str, watcher: EventWatcher, notify: Callable[[], None] | None = None) -> None:
        self.public_id = public_id
        #: The number of the last event that the stream has read: later ones wake it. None: it has read nothing yet, or
        #: its last attempt failed; then nothing wakes it.
        self.seen: int | None = None
        #: Where it waits, and the position that the stream has told. None if it does not wait.
        self.device_key: str | None = None
        self.position: int | None = None
        #: Whether there are events that the stream has not read.
        self.has_event = False
        self._move: tuple[int, float | None] | None = None
        self._watcher = watcher
        self._woken = threading.Event()
        self._notify = notify or self._woken.set

    def read(self, seen: int, device_key: str, position: int | None) -> None:
        """Notes the last event and position that the stream has reported: later ones wake it."""
        self._move, self.has_event = None, False
        self.device_key = None if position is None else device_key
        self.position, self.seen = position, seen

    def wait(self, seconds: float) -> bool:
        """Waits for a new event or position. Returns False if there was none within ``seconds``."""
        woken = self._woken.wait(seconds)
        self._woken.clear()
        return woken

    def wake(self) -> None:
        """Ends the current wait, or the next one, because of a new event."""
        self._move, self.has_event = None, True
        self._notify()

    def move(self, position: int, wait_s: float | None) -> None:
        """Ends the current wait, or the next one, because of a new position in the queue."""
        self.position, self._move = position, (position, wait_s)
        self._notify()

    def take_move(self) -> tuple[int, float | None] | None:
        """Returns the new position and the expected wait in seconds, once, if nothing else woke the stream."""
        move, self._move = self._move, None
        return move

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

    def listen(self, public_id: str, notify: Callable[[], None] | None = None) -> Listener:
        """Returns a listener for the submission's events, and starts the thread if none runs.

        The thread calls ``notify`` instead of ending the listener's ``wait``.
        """
        listener = Listener(public_id, self, notify)
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
                moves_at_s = 0.0
                while self._is_wanted():
                    begun_s = time.monotonic()
                    is_time_for_moves = begun_s >= moves_at_s
                    if self._poll() and (not is_time_for_moves or self._poll_queues()):
                        took_s = time.monotonic() - begun_s
                        moves_at_s = begun_s + MOVES_S + _REST * took_s if is_time_for_moves else moves_at_s
                        time.sleep(_REST * took_s)
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

    def _poll_queues(self) -> bool:
        with self._lock:
            waiting = [listener for listener in self._listeners if listener.device_key is not None]
        try:
            with self._readers() as session:
                for device_key in {str(listener.device_key) for listener in waiting}:
                    positions, wait_s = queue_positions(session, device_key), expected_wait(session, device_key)
                    for listener in waiting:
                        position = positions.get(listener.public_id)
                        # Read again: the stream may have read meanwhile that it waits no longer.
                        is_here = listener.device_key == device_key
                        if is_here and position is not None and position != listener.position:
                            listener.move(position, wait_s(position))
        except SQLAlchemyError:
            return False
        return True
