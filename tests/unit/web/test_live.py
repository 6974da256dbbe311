from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from store.queue.events import record_event
from store.queue.inotify import Change, FileWatch
from tests.web_site import Site, accepted, make_site, post
from web import live
from web.event_watcher import EventWatcher, Listener
from web.live import EventStream, StreamSlots


@pytest.fixture
def site(data_dir: Path) -> Site:
    site = make_site(data_dir)
    site.add_device()
    return site


def _submit(site: Site) -> str:
    client = site.visitor()
    page = "/challenges/vector-add"
    answer = post(
        client,
        f"{page}/submissions",
        {"source": "int x;", "device": "emulator", "mode": "submit"},
        page=page,
        headers={"Accept": "application/json"},
    )
    assert answer.status_code == 201, answer.text
    return str(answer.get_json()["id"])


def _parse(frames: str) -> list[tuple[str, dict[str, object], str | None]]:
    events = []
    for frame in frames.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in frame.splitlines() if not line.startswith(":"))
        if fields:
            events.append((fields["event"], json.loads(fields["data"]), fields.get("id")))
    return events


class _Time:
    """A clock that moves only when somebody waits, and calls ``then`` at each wait."""

    def __init__(self, then: Callable[[int], None]) -> None:
        self.now, self.waits, self._then = 0.0, 0, then

    def wait(self, _listener: Listener, seconds: float) -> None:
        self.now += seconds
        self.waits += 1
        self._then(self.waits)


class _NoNews(EventWatcher):
    """Nobody looks but the stream itself."""

    def listen(self, public_id: str, notify: Callable[[], None] | None = None) -> Listener:
        return Listener(public_id, self, notify)


def _stream(
    site: Site, public_id: str, time: _Time, free: Callable[[], None] = lambda: None, after: int = 0
) -> EventStream:
    readers = site.services.readers
    return EventStream(
        readers,
        _NoNews(readers, lambda: FileWatch(None, Change.MODIFY)),
        free,
        public_id,
        after,
        wait=time.wait,
        monotonic=lambda: time.now,
    )


def test_a_stream_tells_all_from_the_queue_to_the_end(site: Site) -> None:
    public_id = _submit(site)
    time = _Time(lambda waits: site.work(cases=accepted("a", "b")) if waits == 2 else None)
    slots = StreamSlots(1)
    assert slots.acquire(7)
    stream = _stream(site, public_id, time, lambda: slots.release(7))
    events = _parse("".join(stream))
    assert [kind for kind, _, _ in events] == [
        *("hello", "queued", "position", "building", "built", "running", "case", "case", "done", "end")
    ]
    assert events[2][1] == {"position": 1, "wait_s": None}
    assert [int(number) for _, _, number in events if number] == list(range(1, 8))
    assert events[6][1]["payload"] == {"id": "a", "group": "sample", "verdict": "AC", "done": 1, "total": 2}
    stream.close()
    stream.close()
    assert slots.open == 0


def test_a_stream_goes_on_from_where_the_client_was(site: Site) -> None:
    public_id = _submit(site)
    site.work(cases=accepted("a"))
    events = _parse("".join(_stream(site, public_id, _Time(lambda _: None), after=5)))
    assert [kind for kind, _, _ in events] == ["hello", "done", "end"]


def test_a_silent_stream_says_that_it_lives_and_does_not_last_for_ever(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It looks into the database again and again for ten minutes.
    monkeypatch.setattr(live, "MAX_STREAM_S", 6 * live.KEEPALIVE_S)
    public_id = _submit(site)
    time = _Time(lambda _: None)
    events = _parse("".join(_stream(site, public_id, time)))
    ticks = sum(kind == "tick" for kind, _, _ in events)
    assert ticks == pytest.approx(live.MAX_STREAM_S / live.KEEPALIVE_S, abs=2)
    assert time.now == pytest.approx(live.MAX_STREAM_S, abs=1)
    assert "end" not in [kind for kind, _, _ in events]


def test_the_place_in_the_queue_is_told_when_it_changes(site: Site) -> None:
    first, second = _submit(site), _submit(site)

    def move(waits: int) -> None:
        if waits in (2, 4):
            site.work(cases=accepted("a"))

    events = _parse("".join(_stream(site, second, _Time(move))))
    assert first != second
    assert [data["position"] for kind, data, _ in events if kind == "position"] == [2, 1]


def test_slots_run_out_and_come_back() -> None:
    slots = StreamSlots(2)
    assert [slots.acquire(1), slots.acquire(2), slots.acquire(1)] == [True, True, False]
    slots.release(2)
    assert slots.acquire(1)


def test_no_user_takes_all_slots() -> None:
    slots = StreamSlots(5, per_user=2)
    assert [slots.acquire(1), slots.acquire(1), slots.acquire(1), slots.acquire(2)] == [True, True, False, True]
    slots.release(1)
    assert slots.acquire(1)
    assert slots.open == 3


def test_a_new_event_is_seen_at_the_next_look(site: Site) -> None:
    public_id = _submit(site)
    submission = site.submission(public_id)
    time = _Time(lambda _: None)
    stream = iter(_stream(site, public_id, time))
    next(stream)
    next(stream)
    with site.database() as session:
        record_event(session, submission.id, "building", {"attempt": 1}, now=site.services.clock())
    assert _parse(next(stream))[0][0] == "building"
    assert time.now == pytest.approx(live.POLL_S)


def test_a_database_that_is_away_is_said_and_waited_for(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    public_id = _submit(site)
    site.work(cases=accepted("a"))

    def away(*_: object) -> None:
        raise OperationalError("SELECT", None, Exception("away"))

    def back(waits: int) -> None:
        if waits == 3:
            monkeypatch.undo()

    monkeypatch.setattr(live, "get_progress", away)
    frames = list(_stream(site, public_id, _Time(back)))
    assert frames[1:4] == [": the database is away\n\n"] * 3
    assert [kind for kind, _, _ in _parse("".join(frames))][-2:] == ["done", "end"]
