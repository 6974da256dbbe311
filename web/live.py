"""Live progress: a submission's events as server-sent events, read from the database.

Streams poll the rows, so they need no broker and lose no event without one. A client that connects late or reconnects
(``Last-Event-ID``) receives every event since the last one it saw. A stream polls when ``web.event_watcher`` wakes it,
and once a second: the queue position changes without an event of this submission, and an event that the watcher
misses arrives at most a second late. No database connection is held between two polls.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any

from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session, sessionmaker

from store.models import FINAL_STATES, Event
from store.submissions import events_after, get_progress, queue_position
from web.event_watcher import EventWatcher, Listener

#: Seconds between two polls if nothing wakes the stream.
POLL_S = 1.0
#: Well below the minute after which proxies cut off a silent connection.
KEEPALIVE_S = 10.0
#: Limits how long a forgotten tab occupies a slot. Browsers reconnect by themselves.
MAX_STREAM_S = 600.0


class StreamSlots:
    """Limits the number of open streams: each occupies a server thread, and pages need threads too."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open = 0
        self._lock = threading.Lock()

    def acquire(self) -> bool:
        """Takes a slot. Returns False if none is free; the client should then poll."""
        with self._lock:
            if self._open >= self._limit:
                return False
            self._open += 1
            return True

    def release(self) -> None:
        """Frees a slot."""
        with self._lock:
            self._open -= 1

    @property
    def open(self) -> int:
        """The number of slots in use."""
        return self._open


class EventStream:
    """The body of a streaming response: an iterator of server-sent events that frees its slot when closed.

    Sends ``hello`` at once (which tells the client that no proxy buffers the stream), ``position`` while the submission
    is queued, then each event under its kind, ``tick`` as a keep-alive, and ``end``.
    """

    def __init__(
        self,
        readers: sessionmaker[Session],
        watcher: EventWatcher,
        slots: StreamSlots,
        public_id: str,
        after: int,
        *,
        wait: Callable[[Listener, float], object] = Listener.wait,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._readers, self._watcher, self._slots = readers, watcher, slots
        self._public_id, self._after = public_id, after
        self._wait, self._monotonic = wait, monotonic
        self._events = self._run()
        self._closed = False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        return next(self._events)

    def close(self) -> None:
        """Frees the slot. The server calls it when the client disconnects or the stream ends."""
        if not self._closed:
            self._closed = True
            self._slots.release()
            self._events.close()

    def _run(self) -> Generator[str, None, None]:
        yield _frame("hello", {})
        with self._watcher.listen(self._public_id) as listener:
            yield from self._listen(listener)

    def _listen(self, listener: Listener) -> Iterator[str]:
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
                        frames.append(_frame("position", {"position": current}))
                    position = current
                    listener.seen = submission.last_event_seq
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
            self._wait(listener, POLL_S)


def event_json(event: Event) -> dict[str, Any]:
    """Returns an event in the form sent to clients."""
    return {"seq": event.seq, "kind": event.kind, "at": event.created_at.isoformat(), "payload": event.payload}


def _frame(kind: str, data: dict[str, Any], seq: int | None = None) -> str:
    number = "" if seq is None else f"id: {seq}\n"
    return f"{number}event: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"
