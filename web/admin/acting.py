"""Shared parts of the operators' forms: who acts, and the message for an action that is not possible."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from flask import flash, request
from sqlalchemy.orm import Session

from store.operation.administration import NotPossibleError
from store.operation.operator_log import Actor
from web.accounts.visitor import require_visitor
from web.problems import Problem, sentence
from web.services import transaction


@contextmanager
def acting(done: str = "") -> Iterator[tuple[Session, Actor]]:
    """Yields a write transaction and who acts in it; afterwards the next page says ``done``, or why nothing was."""
    visitor = require_visitor()
    try:
        with transaction() as writer:
            yield writer, Actor(visitor.username, visitor.id, request.remote_addr or "")
    except NotPossibleError as error:
        flash(sentence(str(error)), "error")
    else:
        if done:
            flash(done, "success")


def given_reason() -> str:
    """Returns the form's reason. Raises Problem 422 if it is empty: the log would not say why."""
    reason = request.form.get("reason", "").strip()
    if not reason:
        raise Problem(422, "invalid", "Give a reason: the log keeps it.")
    return reason
