"""Decides who sees the hints of a statement while an assignment is to be solved without them."""

from __future__ import annotations

from datetime import datetime

from judge.packs.form.statement import read_statement, without_hints
from judge.packs.pack import Pack
from store.models import Role
from store.teaching.classes import hints_hidden_until
from web.accounts.visitor import Visitor
from web.services import reader, services


def shown_statement(pack: Pack, visitor: Visitor | None) -> tuple[str, datetime | None]:
    """Returns the statement as a visitor may read it, and until when its hints are hidden; None if they are not."""
    statement = read_statement(pack)
    if visitor is not None and visitor.role.includes(Role.TEACHER):
        return statement, None
    until = hints_hidden_until(reader(), pack.slug, now=services().clock())
    return (statement, None) if until is None else (without_hints(statement), until)
