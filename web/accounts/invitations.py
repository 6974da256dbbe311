"""Decides who may create an account: everybody, those with an invitation, or nobody."""

from __future__ import annotations

from sqlalchemy.orm import Session

from store.people.links import Purpose, find_link, use_link
from web.problems import Problem
from web.services import reader, services
from web.site import site_settings


def check_sign_up(invite: str) -> None:
    """Raises Problem (403) if this site takes no new account with this invitation."""
    mode = site_settings().sign_up
    if mode == "closed":
        raise Problem(403, "sign_up_closed", "This site takes no new accounts. Ask its operator for one.")
    if mode == "invitation" and find_link(reader(), Purpose.INVITE, invite, now=services().clock()) is None:
        raise _not_invited(invite)


def use_invitation(writer: Session, invite: str) -> None:
    """Uses the invitation up if the site needs one. Raises Problem (403) if somebody else has just used it."""
    needed = site_settings().sign_up == "invitation"
    if needed and use_link(writer, Purpose.INVITE, invite, now=services().clock()) is None:
        raise _not_invited(invite)


def _not_invited(invite: str) -> Problem:
    said = "This invitation was used, or is too old. " if invite else "An account here needs an invitation. "
    return Problem(403, "not_invited", f"{said}Ask the operator for a link.")
