"""Writes Atom feeds (RFC 4287)."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

ATOM = "http://www.w3.org/2005/Atom"
#: What XML 1.0 cannot hold.
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: When a feed without entries was changed last.
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry: ``id`` is an IRI that never changes, ``link`` the address of the page that it is about."""

    id: str
    title: str
    link: str
    updated: datetime
    summary: str
    author: str | None = None


def write_feed(*, address: str, title: str, page: str, entries: Sequence[Entry]) -> bytes:
    """Returns a feed as XML. ``address`` is the feed's own, ``page`` that of the page which shows the same."""
    feed = ET.Element(f"{{{ATOM}}}feed")
    _add(feed, "id", address)
    _add(feed, "title", title)
    _add(feed, "updated", _time(max((entry.updated for entry in entries), default=_NEVER)))
    _add_author(feed, "gpujudge")
    _add_link(feed, "self", address, "application/atom+xml")
    _add_link(feed, "alternate", page, "text/html")
    for entry in entries:
        element = ET.SubElement(feed, f"{{{ATOM}}}entry")
        _add(element, "id", entry.id)
        _add(element, "title", entry.title)
        _add(element, "updated", _time(entry.updated))
        if entry.author is not None:
            _add_author(element, entry.author)
        _add_link(element, "alternate", entry.link, "text/html")
        _add(element, "summary", entry.summary)
    ET.register_namespace("", ATOM)
    written: bytes = ET.tostring(feed, encoding="utf-8", xml_declaration=True)
    return written


def _add(parent: ET.Element, name: str, text: str) -> None:
    ET.SubElement(parent, f"{{{ATOM}}}{name}").text = _NO_XML.sub("\ufffd", text)


def _add_author(parent: ET.Element, name: str) -> None:
    _add(ET.SubElement(parent, f"{{{ATOM}}}author"), "name", name)


def _add_link(parent: ET.Element, rel: str, href: str, kind: str) -> None:
    ET.SubElement(parent, f"{{{ATOM}}}link", {"rel": rel, "href": href, "type": kind})


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
