"""A site whose clock the test sets, for classes and contests (the fixture ``timed_site``)."""

from __future__ import annotations

from datetime import datetime, timedelta

from flask.testing import FlaskClient

from store.models import Role
from store.people.accounts import find_user
from tests.web_site import Site


class Clock:
    """The server's clock, which the test sets."""

    def __init__(self) -> None:
        self.now = datetime.fromisoformat("2026-03-01T12:00:00+00:00")

    def __call__(self) -> datetime:
        return self.now

    def at(self, hour: float) -> datetime:
        """Returns a moment of the day."""
        return self.now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(hours=hour)

    def field(self, hour: float) -> str:
        """Returns a moment as the form's fields have it."""
        return self.at(hour).strftime("%Y-%m-%dT%H:%M")


def promoted(site: Site, name: str, role: Role) -> FlaskClient:
    client = site.visitor(name)
    with site.database() as session:
        user = find_user(session, name)
        assert user is not None
        user.role = role
    return client
