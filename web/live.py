"""Live progress: a submission's events as server-sent events, read from the database.

The rows are polled: no broker is needed for it, nothing is lost when one is away, and a reader who comes late or comes
back (``Last-Event-ID``) sees all from where it was. A stream looks when the news say that there is something
(``web.news``), and each second by itself: places in the queue change without an event of one's own, and what the news
miss comes a second late, no more. No connection is held between two looks.
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
from web.news import Listener, News

#: Between the looks that nobody has asked for.
POLL_S = 1.0
#: Well below the minute after which proxies cut a silent connection off.
KEEPALIVE_S = 10.0
#: A browser comes back by itself; this bounds what a forgotten tab holds.
LONGEST_S = 600.0


class StreamSlots:
    """How many streams may be open at once: each holds a thread of the server, and pages need threads too."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open = 0
        self._lock = threading.Lock()

    def acquire(self) -> bool:
        """Take a slot; False when there is none left, and the client should poll."""
        with self._lock:
            if self._open >= self._limit:
                return False
            self._open += 1
            return True

    def release(self) -> None:
        """Give a slot back."""
        with self._lock:
            self._open -= 1

    @property
    def open(self) -> int:
        """How many are in use."""
        return self._open


class EventStream:
    """The body of a streamed answer: an iterator of server-sent events that frees its slot when it is closed.

    Sends ``hello`` at once (so that a client knows the stream is not held back by something between), ``position``
    while it waits in a queue, then each event by its kind, ``tick`` when nothing happened for a while, and ``end``.
    """

    def __init__(
        self,
        readers: sessionmaker[Session],
        news: News,
        slots: StreamSlots,
        public_id: str,
        after: int,
        *,
        wait: Callable[[Listener, float], object] = Listener.wait,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._readers, self._news, self._slots = readers, news, slots
        self._public_id, self._after = public_id, after
        self._wait, self._monotonic = wait, monotonic
        self._events = self._run()
        self._closed = False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        return next(self._events)

    def close(self) -> None:
        """Called by the server when the client has gone or the stream is over."""
        if not self._closed:
            self._closed = True
            self._slots.release()
            self._events.close()

    def _run(self) -> Generator[str, None, None]:
        yield _frame("hello", {})
        with self._news.listen(self._public_id) as listener:
            yield from self._listen(listener)

    def _listen(self, listener: Listener) -> Iterator[str]:
        began = spoke = self._monotonic()
        position: int | None = None
        while (now := self._monotonic()) - began < LONGEST_S:
            frames: list[str] = []
            over = False
            try:
                with self._readers() as session:
                    submission = get_progress(session, self._public_id)
                    if submission is None:
                        return
                    # The state is read before the events: a final state's last event is then among them.
                    over = submission.state in FINAL_STATES
                    for event in events_after(session, submission, self._after):
                        self._after = event.seq
                        frames.append(_frame(event.kind, event_json(event), event.seq))
                    if (place := queue_position(session, submission)) != position and place is not None:
                        frames.append(_frame("position", {"position": place}))
                    position = place
                    listener.seen = submission.last_event_seq
            except OperationalError:
                listener.seen = None
                frames.append(": the database is away\n\n")
            if not frames and now - spoke >= KEEPALIVE_S:
                frames.append(_frame("tick", {}))
            if frames:
                spoke = now
                yield "".join(frames)
            if over:
                yield _frame("end", {})
                return
            self._wait(listener, POLL_S)


def event_json(event: Event) -> dict[str, Any]:
    """An event as clients see it."""
    return {"seq": event.seq, "kind": event.kind, "at": event.created_at.isoformat(), "payload": event.payload}


def _frame(kind: str, data: dict[str, Any], seq: int | None = None) -> str:
    number = "" if seq is None else f"id: {seq}\n"
    return f"{number}event: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"
