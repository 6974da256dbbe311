"""Following a submission: server-sent events as long as they come, polling where they are cut off.

Each event is given once and in order, whichever way it came: the server numbers them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from cli.api import Api, Unreachable

TERMINAL = frozenset({"done", "cancelled"})
#: How long a server that has gone away is waited for: a restart of it is not the end of a submission.
PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Event:
    """``kind`` as the store has it: queued, building, built, running, case, timing, done, cancelled.

    A stream has some more, which are not kept and so have no number: ``position`` and ``end`` are used.
    """

    seq: int | None
    kind: str
    payload: dict[str, Any]


def parse_stream(lines: Iterator[str]) -> Iterator[Event]:
    """The events of a text/event-stream; comments are passed over."""
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
            yield Event(seq, fields.get("event", "message"), _payload(json.loads(fields["data"])))
        fields = {}


def _payload(data: Any) -> dict[str, Any]:
    """The server wraps an event's payload in the event itself; both forms are understood."""
    if isinstance(data, dict) and isinstance(data.get("payload"), dict):
        return dict(data["payload"])
    return dict(data) if isinstance(data, dict) else {}


def follow(api: Api, submission_id: str, *, clock: Callable[[], float] = time.monotonic) -> Iterator[Event]:
    """Events until the submission has come to its end. Raises Unreachable after PATIENCE_S without the server."""
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
        # A stream that ends without news is one that something in between does not let through.
        streaming = streaming and fresh > 0
        pause_s = 0.3 if fresh else min(pause_s * 1.4, 2.0)
        api.sleep(pause_s)


def _stream(api: Api, path: str, seq: int) -> Iterator[Event]:
    with api.stream(path, after=seq) as lines:
        yield from parse_stream(lines)


def _list(api: Api, path: str, seq: int) -> Iterator[Event]:
    answer = api.get(path, after=seq)
    for item in answer["events"] if isinstance(answer, dict) else answer:
        yield Event(int(item["seq"]), str(item["kind"]), dict(item.get("payload") or {}))
