"""What the views work with: made once in ``create_app``, kept on the application, never global."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

from flask import Flask, current_app, g
from sqlalchemy import Engine
from sqlalchemy.orm import Session, sessionmaker

from judge.packs.pack import Pack
from store.clock import Clock
from store.models import Submission
from store.settings import Settings
from web.live import StreamSlots
from web.news import News

EXTENSION = "gpujudge"


@dataclass(frozen=True, slots=True)
class Services:
    """``ring`` tells the workers of a submission after its commit: False when the broker is away, and no exception,
    since the row is what counts. ``broker_answers`` says whether the broker can be reached, within a second or two.
    """

    settings: Settings
    engine: Engine
    readers: sessionmaker[Session]
    writers: sessionmaker[Session]
    packs: dict[str, Pack]
    ring: Callable[[Submission], bool]
    broker_answers: Callable[[], bool]
    streams: StreamSlots
    news: News
    clock: Clock


def services() -> Services:
    """The services of the application that serves this request."""
    return cast(Services, current_app.extensions[EXTENSION])


def reader() -> Session:
    """The request's session for reading: one transaction, one view of the database, never waiting for a writer."""
    if "reader" not in g:
        g.reader = services().readers()
    return cast(Session, g.reader)


@contextmanager
def transaction() -> Iterator[Session]:
    """A session for writing, committed at the end, rolled back by an exception. Kept short: SQLite has one writer."""
    with services().writers.begin() as session:
        yield session


def close_reader_after_requests(app: Flask) -> None:
    """Gives the reading session's connection back, whatever became of the request."""

    @app.teardown_appcontext
    def close_reader(_error: BaseException | None) -> None:
        session: Session | None = g.pop("reader", None)
        if session is not None:
            session.close()
