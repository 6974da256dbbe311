"""Live progress: a submission's events as server-sent events, read from the database.

Streams poll the rows, so they need no broker and lose no event without one. A client that connects late or reconnects
(``Last-Event-ID``) receives every event since the last one it saw. A stream reads when ``web.event_watcher`` wakes it,
which also tells it its place in the queue; now and then it reads without being woken, and each second where no watcher
runs. No database connection is held between two reads.

``web.serving.asgi`` serves all streams from its event loop, without a thread each. A WSGI server iterates over a
stream, and a thread of it waits.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from typing import Any

from flask import Request
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session, sessionmaker

from store.models import FINAL_STATES, Event
from store.queue.turns import expected_wait, queue_position
from store.submissions import events_after, get_progress
from web.event_watcher import EventWatcher, Listener

#: Seconds between two reads if nothing wakes the stream: without a watcher, and with one.
POLL_S, REREAD_S = 1.0, 60.0
#: Well below the minute after which proxies cut off a silent connection.
KEEPALIVE_S = 10.0
#: Limits how long a forgotten tab occupies a slot. Browsers reconnect by themselves.
MAX_STREAM_S = 600.0
#: The threads in which an event loop's streams read the database.
STREAM_THREADS = 4
#: The key, in an ASGI scope, of the list of streams that the request has handed over.
HANDED_OVER = "gpujudge.streams"
#: The open streams of one user, so that nobody takes all of them.
USER_STREAMS = 10


class StreamSlots:
    """Limits the open streams, in all and of each user. ``tell`` is called with their number when it changes."""

    def __init__(self, limit: int, per_user: int = USER_STREAMS) -> None:
        self._limit, self._per_user = limit, per_user
        self.tell: Callable[[int], None] = lambda _open: None
        self._open: Counter[int] = Counter()
        self._lock = threading.Lock()

    def acquire(self, user_id: int) -> bool:
        """Takes a slot for a user. Returns False if none is free; the client should then poll."""
        with self._lock:
            if self._open.total() >= self._limit or self._open[user_id] >= self._per_user:
                return False
            self._open[user_id] += 1
            self.tell(self._open.total())
            return True

    def release(self, user_id: int) -> None:
        """Frees a slot of the user."""
        with self._lock:
            self._open[user_id] -= 1
            if not self._open[user_id]:
                del self._open[user_id]
            self.tell(self._open.total())

    @property
    def open(self) -> int:
        """The number of slots in use."""
        with self._lock:
            return self._open.total()


class EventStream:
    """The body of a streaming response: server-sent events. Calls ``free`` once when closed.

    An iterator for WSGI servers. ``advance`` does the same without waiting, for servers that wait for many streams.

    Sends ``hello`` at once (which tells the client that no proxy buffers the stream), ``position`` while the submission
    is queued, then each event under its kind, ``tick`` as a keep-alive, and ``end``.
    """

    def __init__(
        self,
        readers: sessionmaker[Session],
        watcher: EventWatcher,
        free: Callable[[], None],
        public_id: str,
        after: int,
        *,
        wait: Callable[[Listener, float], object] = Listener.wait,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._readers, self._watcher, self._free = readers, watcher, free
        self._public_id, self._after = public_id, after
        self._wait, self._monotonic = wait, monotonic
        self._events = self._run()
        self._closed = self._is_handed_over = False
        #: Called when the stream is to advance, from another thread. Set it before the first advance.
        self.on_wake: Callable[[], None] | None = None
        self._listener: Listener | None = None
        #: The seconds for which to wait after an advance that returned None.
        self.pause_s = POLL_S

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if self._is_handed_over:
            raise StopIteration
        while (frames := next(self._events)) is None:
            assert self._listener is not None
            self._wait(self._listener, self.pause_s)
        return frames

    def advance(self) -> str | None:
        """Returns the next frames, or None if the stream is to wait now. Raises EOFError at the end."""
        try:
            return next(self._events)
        except StopIteration:
            raise EOFError from None

    def hand_over(self) -> None:
        """Leaves the stream to another server: as an iterator it is empty, and closes no more."""
        self._is_handed_over = True

    def take_over(self) -> None:
        """Makes this caller the one that closes the stream."""
        self._is_handed_over = False

    def close(self) -> None:
        """Frees the slot. The server calls it when the client disconnects or the stream ends."""
        if not self._closed and not self._is_handed_over:
            self._closed = True
            self._free()
            self._events.close()

    def _run(self) -> Generator[str | None, None, None]:
        yield _frame("hello", {})
        with self._watcher.listen(self._public_id, self.on_wake) as self._listener:
            yield from self._listen(self._listener)

    def _listen(self, listener: Listener) -> Iterator[str | None]:
        started = last_sent = self._monotonic()
        position: int | None = None
        while (now := self._monotonic()) - started < MAX_STREAM_S:
            frames: list[str] = []
            is_final = False
            try:
                with self._readers() as session:
                    submission = get_progress(session, self._public_id)
                    if submission is None:
                        return
                    # The state is read before the events, so that the events include the last one of a final state.
                    is_final = submission.state in FINAL_STATES
                    for event in events_after(session, submission, self._after):
                        self._after = event.seq
                        frames.append(_frame(event.kind, event_json(event), event.seq))
                    if (current := queue_position(session, submission)) != position and current is not None:
                        wait_s = expected_wait(session, submission.device_key)(current)
                        frames.append(_frame("position", {"position": current, "wait_s": wait_s}))
                    position = current
                    listener.read(submission.last_event_seq, submission.device_key, position)
            except OperationalError:
                listener.seen = None
                frames.append(": the database is away\n\n")
            if not frames and now - last_sent >= KEEPALIVE_S:
                frames.append(_frame("tick", {}))
            if frames:
                last_sent = now
                yield "".join(frames)
            if is_final:
                yield _frame("end", {})
                return
            read_at_s = self._monotonic()
            while True:
                self.pause_s = POLL_S if self._watcher.thread is None else KEEPALIVE_S
                yield None
                now = self._monotonic()
                # A move in the queue needs no reading here: the watcher reads the positions of all.
                if (move := listener.take_move()) is not None:
                    position, wait_s = move
                    last_sent = now
                    yield _frame("position", {"position": position, "wait_s": wait_s})
                elif listener.has_event or self._watcher.thread is None or now - read_at_s >= REREAD_S:
                    break
                elif now - last_sent >= KEEPALIVE_S:
                    last_sent = now
                    yield _frame("tick", {})


def wait_for_end(
    readers: sessionmaker[Session],
    watcher: EventWatcher,
    public_id: str,
    seconds: float,
    *,
    wait: Callable[[Listener, float], object] = Listener.wait,
    monotonic: Callable[[], float] = time.monotonic,
) -> None:
    """Waits until a submission has ended, for at most ``seconds``. Holds no connection meanwhile."""
    until = monotonic() + seconds
    with watcher.listen(public_id) as listener:
        while True:
            with readers() as session:
                found = get_progress(session, public_id)
                if found is None or found.state in FINAL_STATES:
                    return
                listener.read(found.last_event_seq, found.device_key, None)
            left = until - monotonic()
            if left <= 0:
                return
            wait(listener, min(left, POLL_S if watcher.thread is None else REREAD_S))


def hand_over(stream: EventStream, request: Request) -> None:
    """Leaves the stream to the event loop, where one serves the request; else the WSGI server iterates over it."""
    # a2wsgi gives Flask the scope.
    streams = request.environ.get("asgi.scope", {}).get(HANDED_OVER)
    if streams is not None:
        stream.hand_over()
        streams.append(stream)


def event_json(event: Event) -> dict[str, Any]:
    """Returns an event in the form sent to clients."""
    return {"seq": event.seq, "kind": event.kind, "at": event.created_at.isoformat(), "payload": event.payload}


def _frame(kind: str, data: dict[str, Any], seq: int | None = None) -> str:
    number = "" if seq is None else f"id: {seq}\n"
    return f"{number}event: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"
