"""Events that wake the streams which follow them, on both databases. No stream looks by itself here."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError
from structlog.testing import capture_logs

from store.queue.events import record_event
from store.queue.inotify import FileWatch
from tests.web_site import KERNEL, Site, accepted, make_site, post
from web import event_watcher, live
from web.event_watcher import EventWatcher, Listener
from web.live import EventStream

pytestmark = pytest.mark.exhaustive(by_file=True)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def site(request: pytest.FixtureRequest, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    site = make_site(data_dir, database_url=url)
    site.add_device()
    monkeypatch.setattr(live, "POLL_S", 3600.0)
    monkeypatch.setattr(live, "REREAD_S", 3600.0)
    monkeypatch.setattr(live, "KEEPALIVE_S", 3600.0)
    yield site
    gc.collect()
    _ended(site.services.event_watcher)
    site.services.engine.dispose()


def _ended(event_watcher: EventWatcher) -> None:
    """Returns when there is no thread."""
    if (thread := event_watcher.thread) is not None:
        thread.join(30)
    assert event_watcher.thread is None


def _submit(site: Site) -> str:
    page = "/challenges/vector-add"
    data = {"source": KERNEL, "device": "emulator", "mode": "submit"}
    answer = post(site.visitor(), f"{page}/submissions", data, page=page, headers={"Accept": "application/json"})
    return str(answer.get_json()["id"])


def _record(site: Site, public_id: str, kind: str = "building") -> None:
    submission = site.submission(public_id)
    with site.database() as session:
        record_event(session, submission.id, kind, {}, now=site.services.clock())


def _listen(site: Site, public_id: str, seen: int = 1) -> Listener:
    listener = site.services.event_watcher.listen(public_id)
    listener.seen = seen
    return listener


def _stream(site: Site, public_id: str, wait: Callable[[Listener, float], object] = Listener.wait) -> EventStream:
    return EventStream(site.services.readers, site.services.event_watcher, lambda: None, public_id, 0, wait=wait)


def test_a_write_to_the_database_file_is_noticed_at_once(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = make_site(data_dir)
    site.add_device()
    public_id = _submit(site)
    event_watcher = site.services.event_watcher
    monkeypatch.setattr("web.event_watcher.POLL_S", 3600.0)
    waits, wait = threading.Event(), FileWatch.wait

    def noted(watch: FileWatch, seconds: float) -> None:
        waits.set()
        wait(watch, seconds)

    monkeypatch.setattr(FileWatch, "wait", noted)
    with _listen(site, public_id) as listener:
        assert waits.wait(30)
        # The log is written a moment before the commit can be seen: a look in between is made good by the next write.
        for _ in range(10):
            _record(site, public_id)
            if listener.wait(3):
                break
        else:
            pytest.fail("no write woke the listener")
    # Its next look is the last.
    _record(site, public_id)
    _ended(event_watcher)
    site.services.engine.dispose()


def test_an_event_wakes_the_stream_that_waits_for_it(site: Site) -> None:
    public_id = _submit(site)
    steps = site.work_in_steps(cases=accepted("a"))

    def wait(listener: Listener, seconds: float) -> None:
        # From elsewhere, after the stream has read and before it listens: the narrowest place.
        next(steps)
        assert listener.wait(seconds)

    text = "".join(_stream(site, public_id, wait))
    kinds = [line.removeprefix("event: ") for line in text.splitlines() if line.startswith("event: ")]
    assert [kind for kind in kinds if kind != "position"] == [
        *("hello", "queued", "building", "built", "running", "case", "done", "end")
    ]


def test_an_event_wakes_all_streams_of_its_submission_and_no_other(site: Site) -> None:
    first, second = _submit(site), _submit(site)
    one, other, elsewhere = _listen(site, first), _listen(site, first), _listen(site, second)
    _record(site, first)
    assert one.wait(3600)
    assert other.wait(3600)
    assert not elsewhere.wait(0)
    _record(site, second)
    assert elsewhere.wait(3600)


def test_an_event_from_before_the_listener_wakes_it(site: Site) -> None:
    public_id = _submit(site)
    _record(site, public_id)
    assert _listen(site, public_id).wait(3600)


def test_no_thread_is_left_when_the_last_stream_has_closed(site: Site) -> None:
    public_id = _submit(site)
    assert site.services.event_watcher.thread is None
    streams = [_stream(site, public_id), _stream(site, public_id)]
    for stream in streams:
        assert next(stream).startswith("event: hello")
        assert "queued" in next(stream)
    thread = site.services.event_watcher.thread
    assert thread is not None
    streams[0].close()
    _record(site, public_id)
    assert "building" in next(streams[1])
    assert site.services.event_watcher.thread is thread
    streams[1].close()
    _ended(site.services.event_watcher)
    assert not thread.is_alive()


def test_streams_and_listeners_that_are_forgotten_hold_no_thread(site: Site) -> None:
    public_id = _submit(site)
    stream, listener = _stream(site, public_id), _listen(site, public_id)
    next(stream)
    next(stream)
    del stream, listener
    gc.collect()
    _ended(site.services.event_watcher)


def test_without_the_watcher_a_stream_polls_by_itself(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    public_id = _submit(site)

    def broken(*_: object) -> None:
        raise RuntimeError("nobody thought of this")

    with monkeypatch.context() as patch, capture_logs() as logs:
        patch.setattr(event_watcher, "last_event_seqs", broken)
        steps = site.work_in_steps(cases=accepted("a"))

        def wait(listener: Listener, _seconds: float) -> None:
            _ended(site.services.event_watcher)
            next(steps)
            assert not listener.wait(0)

        text = "".join(_stream(site, public_id, wait))
        assert text.endswith("event: end\ndata: {}\n\n")
    assert [entry["log_level"] for entry in logs] == ["error"]
    # The next who comes has them again.
    public_id = _submit(site)
    _record(site, public_id)
    assert _listen(site, public_id).wait(3600)


def test_a_database_that_is_away_is_polled_again_and_again(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    public_id, asked, look = _submit(site), threading.Event(), event_watcher.last_event_seqs

    def away(*_: object) -> None:
        asked.set()
        raise OperationalError("SELECT", None, Exception("away"))

    monkeypatch.setattr(event_watcher, "RETRY_S", 0.01)
    with capture_logs() as logs:
        monkeypatch.setattr(event_watcher, "last_event_seqs", away)
        listener = _listen(site, public_id)
        for _ in range(3):
            asked.clear()
            assert asked.wait(60)
        monkeypatch.setattr(event_watcher, "last_event_seqs", look)
        _record(site, public_id)
        assert listener.wait(3600)
    assert not logs


def test_where_no_thread_can_begin_the_next_listener_tries_again(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    public_id = _submit(site)

    def none_left(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", none_left)
        first = _listen(site, public_id)
        assert site.services.event_watcher.thread is None
    second = _listen(site, public_id)
    _record(site, public_id)
    assert first.wait(3600)
    assert second.wait(3600)
