"""Reads the rows with which requests of the API begin; simultaneous ones share one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session, sessionmaker

from store.clock import Clock
from store.models import ApiToken
from store.operation.changed_settings import changed_settings
from store.people.accounts import find_tokens
from web.devices import DeviceChoice, device_choices
from web.gathering import Gathering
from web.settings import SiteSettings, WebSettings


@dataclass(frozen=True, slots=True)
class Opening:
    """A request with this token. ``submits``: it needs the rules of submissions, too."""

    token: str
    submits: bool


@dataclass(frozen=True, slots=True)
class Opened:
    """The token, None if it is not valid, and the rules: the site's settings and the devices that are offered."""

    token: ApiToken | None
    rules: tuple[SiteSettings, list[DeviceChoice]] | None


class Openings:
    """Reads for requests."""

    def __init__(self, readers: sessionmaker[Session], settings: WebSettings, clock: Clock) -> None:
        self._readers = readers
        self._settings = settings
        self._clock = clock
        self._gathering = Gathering[Opening, Opened](self._read)

    def open(self, request: Opening) -> Opened:
        """Returns the rows as stored now."""
        return self._gathering.ask(request)

    def _read(self, requests: Sequence[Opening]) -> list[Opened]:
        with self._readers() as session:
            tokens = find_tokens(session, [one.token for one in requests], now=self._clock())
            rules = None
            if any(one.submits for one in requests):
                settings = self._settings.changed(changed_settings(session))
                rules = settings, device_choices(session, self._settings, self._clock)
        return [Opened(token, rules if one.submits else None) for token, one in zip(tokens, requests, strict=True)]
