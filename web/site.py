"""The site's changeable part, as it is for a request: settings, and the notices on its pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, cast

from flask import Flask, g
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from store.models import Notice, Role
from store.operation.changed_settings import changed_settings
from store.people.notices import shown_notices
from store.teaching.comments import Unread, list_unread
from web.accounts.visitor import signed_in
from web.devices import DeviceChoice, device_choices
from web.services import reader, release_reader, services
from web.settings import SiteSettings

T = TypeVar("T")


def site_settings() -> SiteSettings:
    """Returns the settings that operators may change. Reads them once a request: call it before ``transaction``."""
    if "site_settings" not in g:
        g.site_settings = services().settings.changed(changed_settings(reader()))
    return cast(SiteSettings, g.site_settings)


def offered_devices() -> list[DeviceChoice]:
    """Returns the devices that users can choose. Reads them once a request: call it before ``transaction``."""
    if "offered_devices" not in g:
        g.offered_devices = device_choices(reader(), services().settings, services().clock)
    return cast(list[DeviceChoice], g.offered_devices)


def register_site(app: Flask) -> None:
    """Offers ``shown_settings``, ``shown_notices`` and ``unread_comments`` to templates.

    They are for pages that must be shown even without the database, such as the one that reports it as unavailable.
    """

    def settings() -> SiteSettings:
        given: SiteSettings = services().settings
        return _or_else(site_settings, given)

    def notices() -> Sequence[Notice]:
        return _or_else(lambda: shown_notices(reader(), now=services().clock()), ())

    def unread() -> Sequence[Unread]:
        return _or_else(_unread, ())

    app.context_processor(lambda: {"shown_settings": settings, "shown_notices": notices, "unread_comments": unread})


def _unread() -> Sequence[Unread]:
    visitor = signed_in()
    if visitor is None:
        return ()
    return list_unread(reader(), user_id=visitor.id, as_owner=visitor.role.includes(Role.TEACHER))


def _or_else(read: Callable[[], T], otherwise: T) -> T:
    """Returns the result of ``read``, or ``otherwise`` if the database cannot be reached."""
    if g.get("database_away"):
        return otherwise
    try:
        return read()
    except (DBAPIError, PoolTimeoutError):
        release_reader()
        g.database_away = True
        return otherwise
