"""The services that views use: built once in ``create_app`` and kept on the application, never global."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

from flask import Flask, current_app, g
from sqlalchemy import Engine
from sqlalchemy.orm import Session, sessionmaker

from judge.packs.collection.live import LivePacks
from logs.traces import Traces
from store.clock import Clock
from store.models import Submission
from store.teaching.served_packs import PrivatePacks
from web.background import Background
from web.event_watcher import EventWatcher
from web.intake import Intake
from web.kept import Kept
from web.live import StreamSlots
from web.mail import Deliver
from web.openings import Openings
from web.settings import WebSettings

EXTENSION = "gpujudge"


@dataclass(frozen=True, slots=True)
class Services:
    """The application's services.

    ``ring`` notifies the workers of a committed submission. It returns False, without raising, if the broker is
    unavailable: the workers then find the row by polling. ``ring_builders`` wakes a build worker in the same way, for
    other work than a submission. ``broker_answers`` returns within about two seconds.
    ``all_packs`` has what some visitors may not see, and nothing of classes and contests: ask ``web.challenges.shown``.
    ``polls`` limits the requests that wait, each in a thread.
    ``writing`` lets so many transactions write at once as the database has use for.
    """

    settings: WebSettings
    engine: Engine
    readers: sessionmaker[Session]
    writers: sessionmaker[Session]
    all_packs: LivePacks
    private_packs: PrivatePacks
    ring: Callable[[Submission], bool]
    ring_builders: Callable[[], bool]
    broker_answers: Callable[[], bool]
    intake: Intake
    openings: Openings
    streams: StreamSlots
    polls: StreamSlots
    event_watcher: EventWatcher
    writing: threading.Semaphore
    deliver: Deliver
    background: Background
    kept: Kept
    traces: Traces
    clock: Clock


def services() -> Services:
    """Returns the services of the application that handles this request."""
    return services_of(current_app)


def services_of(app: Flask) -> Services:
    """Returns an application's services."""
    return cast(Services, app.extensions[EXTENSION])


def reader() -> Session:
    """Returns the request's read session: one transaction, one snapshot, never blocked by a writer."""
    if "reader" not in g:
        g.reader = services().readers()
    return cast(Session, g.reader)


def release_reader() -> None:
    """Ends the request's read session, so that slow work holds no connection. The next ``reader`` opens another."""
    session: Session | None = g.pop("reader", None)
    if session is not None:
        session.close()


@contextmanager
def transaction() -> Iterator[Session]:
    """Opens a write session, committed at the end or rolled back. Keep it short: SQLite allows one writer.

    Ends the read session first: a request that waits for a second connection while it holds one can deadlock the pool.
    """
    release_reader()
    with services().writing, services().writers.begin() as session:
        yield session


def close_reader_after_requests(app: Flask) -> None:
    """Closes the read session after each request, failed ones included."""

    @app.teardown_appcontext
    def close_reader(_error: BaseException | None) -> None:
        release_reader()
