"""The challenges that the visitor of a request may see: what pages, feeds and API show of ``services().all_packs``.

For a challenge that is hidden from the visitor, everything is as if the site did not have it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flask import g, request

from judge.packs.pack import Pack
from store.models import Class, Role
from store.teaching.private_packs import Owner, is_private_slug, list_private_packs
from store.teaching.visibility import Seen, seen_challenges
from web.accounts.visitor import Visitor, signed_in
from web.api.auth import token_owner
from web.problems import unknown
from web.services import reader, services


def shown_packs() -> Mapping[str, Pack]:
    """Returns the packs that the visitor may see now. Read once a request: call it before ``transaction``."""
    return _seen_by(_visitor()).packs


def public_packs() -> Mapping[str, Pack]:
    """Returns the packs that everybody may see now: what counts in rankings and on users' public pages."""
    return _seen_by(None).packs


def find_pack(slug: str) -> Pack:
    """Returns the challenge's pack. Raises Problem (404) with the nearest names for one that the visitor cannot see."""
    packs = shown_packs()
    pack = packs.get(slug)
    if pack is None:
        raise unknown("challenge", slug, packs)
    return pack


def is_hidden(slug: str) -> bool:
    """Returns whether the visitor may not see a challenge. One that the site lost is not hidden."""
    return _seen_by(_visitor()).seen.hides(slug)


def is_public(slug: str) -> bool:
    """Returns whether everybody may see a challenge. One that the site lost is public."""
    return not _seen_by(None).seen.hides(slug)


def packs_of(owner: Owner) -> Mapping[str, Pack]:
    """Returns the packs that an assignment of a class, or a contest, may be about: those that its members may see.

    An organizer's contest may be about what the organizer alone sees so far.
    """
    shown = public_packs() if isinstance(owner, Class) else shown_packs()
    own = {pack.slug for pack in list_private_packs(reader(), owner)} if owner.id is not None else set()
    known = {slug: pack for slug, pack in shown.items() if not is_private_slug(slug)}
    return known | {slug: pack for slug, pack in shown_packs().items() if slug in own}


def _visitor() -> Visitor | None:
    return token_owner() if request.blueprint == "api" else signed_in()


def _seen_by(visitor: Visitor | None) -> _Shown:
    known: dict[int | None, _Shown] = g.setdefault("seen_challenges", {})
    user_id = None if visitor is None else visitor.id
    if user_id not in known:
        role = Role.USER if visitor is None else visitor.role
        seen = seen_challenges(reader(), user_id=user_id, role=role, now=services().clock())
        packs: Mapping[str, Pack] = services().all_packs
        if seen.hidden or seen.private:
            private = services().private_packs
            own = ((slug, private.load(reader(), slug, sha256)) for slug, sha256 in seen.private.items())
            found = {slug: pack for slug, pack in packs.items() if not seen.hides(slug)}
            packs = dict(sorted((found | {slug: pack for slug, pack in own if pack is not None}).items()))
        known[user_id] = _Shown(packs, seen)
    return known[user_id]


@dataclass(frozen=True, slots=True)
class _Shown:
    """The packs that somebody sees, loaded, and what the database says of that."""

    packs: Mapping[str, Pack]
    seen: Seen
