"""How endpoints for operators act: in one transaction, recorded in the operators' log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from flask import request
from sqlalchemy.orm import Session

from store.operation.administration import NotPossibleError
from store.operation.operator_log import Actor
from web.api.auth import api_visitor
from web.problems import Problem, sentence
from web.services import transaction

#: Of all endpoints for operators, in the OpenAPI document.
TAG = "operators"


@contextmanager
def acting() -> Iterator[tuple[Session, Actor]]:
    """Yields a write transaction and who acts in it. Raises Problem 409 if the action is not possible."""
    visitor = api_visitor()
    try:
        with transaction() as writer:
            yield writer, Actor(visitor.username, visitor.id, request.remote_addr or "")
    except NotPossibleError as error:
        raise Problem(409, "not_possible", sentence(str(error))) from None
