"""Follows a submission by server-sent events, or by polling where streams do not get through.

Either way it yields each event once and in order, by the number that the server gave it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

from cli.answers import ListedEvent, Step, items_of, read
from cli.api import Api
from cli.errors import Unreachable
from records import dataclass

TERMINAL = frozenset({"done", "cancelled"})
#: How long to wait for a server that does not answer: submissions survive a restart of the server.
PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Event:
    """A progress event. Stored kinds: queued, building, built, running, case, timing, done, cancelled.

    Streams also carry kinds that are not stored and have no ``seq``; ``position`` and ``end`` are used here.
    """

    seq: int | None
    kind: str
    payload: Step


def parse_stream(lines: Iterator[str]) -> Iterator[Event]:
    """Parses a text/event-stream and yields its events. Ignores comments."""
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(":")
            if name:
                value = value.removeprefix(" ")
                fields[name] = f"{fields[name]}\n{value}" if name == "data" and "data" in fields else value
            continue
        if "data" in fields:
            number = fields.get("id", "")
            seq = int(number) if number.isdecimal() else None
            try:
                data = json.loads(fields["data"])
            except ValueError:
                raise Unreachable("the server's stream of events cannot be read") from None
            yield Event(seq, fields.get("event", "message"), _payload(data))
        fields = {}


def _payload(data: Any) -> Step:
    """Parses a payload. A stored event wraps it under ``payload``; any other event is the payload."""
    return read(Step, data["payload"] if isinstance(data, dict) and "payload" in data else data)


def follow(api: Api, submission_id: str, *, clock: Callable[[], float] = time.monotonic) -> Iterator[Event]:
    """Yields events until the submission ends. Raises Unreachable after PATIENCE_S without an answer."""
    path, seq, streaming, pause_s, last_answer = f"submissions/{submission_id}/events", 0, True, 0.3, clock()
    while True:
        fresh = 0
        try:
            for event in _stream(api, path, seq) if streaming else _list(api, path, seq):
                last_answer = clock()
                if event.kind == "end":
                    return
                if event.seq is None:
                    if event.kind == "position":
                        yield event
                elif event.seq > seq:
                    seq, fresh = event.seq, fresh + 1
                    yield event
                    if event.kind in TERMINAL:
                        return
            last_answer = clock()
        except Unreachable as error:
            if not streaming and clock() - last_answer > PATIENCE_S:
                error.hint = f"The submission is kept: `gpujudge watch {submission_id}` goes on from here."
                raise
        # A stream that ends without an event was probably blocked by a proxy: poll from now on.
        streaming = streaming and fresh > 0
        pause_s = 0.3 if fresh else min(pause_s * 1.4, 2.0)
        api.sleep(pause_s)


def _stream(api: Api, path: str, seq: int) -> Iterator[Event]:
    with api.stream(path, after=seq) as lines:
        yield from parse_stream(lines)


def _list(api: Api, path: str, seq: int) -> Iterator[Event]:
    answer = api.get(path, after=seq)
    for item in items_of(answer, "events"):
        event = read(ListedEvent, item)
        yield Event(event.seq, event.kind, event.payload)
