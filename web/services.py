"""The services that views use: built once in ``create_app`` and kept on the application, never global."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

from flask import Flask, current_app, g
from sqlalchemy import Engine
from sqlalchemy.orm import Session, sessionmaker

from judge.packs.pack import Pack
from store.clock import Clock
from store.models import Submission
from web.challenges.figures import ChallengeFigures
from web.event_watcher import EventWatcher
from web.live import StreamSlots
from web.settings import WebSettings

EXTENSION = "gpujudge"


@dataclass(frozen=True, slots=True)
class Services:
    """The application's services.

    ``ring`` notifies the workers of a committed submission. It returns False, without raising, if the broker is
    unavailable: the workers then find the row by polling. ``broker_answers`` returns within about two seconds.
    """

    settings: WebSettings
    engine: Engine
    readers: sessionmaker[Session]
    writers: sessionmaker[Session]
    packs: Mapping[str, Pack]
    ring: Callable[[Submission], bool]
    broker_answers: Callable[[], bool]
    streams: StreamSlots
    event_watcher: EventWatcher
    challenge_figures: ChallengeFigures
    clock: Clock


def services() -> Services:
    """Returns the services of the application that handles this request."""
    return cast(Services, current_app.extensions[EXTENSION])


def reader() -> Session:
    """Returns the request's read session: one transaction, one snapshot, never blocked by a writer."""
    if "reader" not in g:
        g.reader = services().readers()
    return cast(Session, g.reader)


@contextmanager
def transaction() -> Iterator[Session]:
    """Opens a write session, committed at the end or rolled back. Keep it short: SQLite allows one writer."""
    with services().writers.begin() as session:
        yield session


def close_reader_after_requests(app: Flask) -> None:
    """Closes the read session after each request, failed ones included."""

    @app.teardown_appcontext
    def close_reader(_error: BaseException | None) -> None:
        session: Session | None = g.pop("reader", None)
        if session is not None:
            session.close()
