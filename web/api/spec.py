"""The OpenAPI document, by SpecTree, and how a request that does not fit it is answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, cast

from flask import Response as FlaskResponse
from pydantic import BaseModel, ValidationError
from spectree import Response, SecurityScheme, SpecTree
from spectree.models import SecureType, SecuritySchemeData

from judge import __version__
from web.api.schemas import Error
from web.problems import Problem


def _refuse_invalid(_request: Any, _response: Any, error: Exception | None, _instance: Any, _adapter: Any) -> None:
    if isinstance(error, ValidationError):
        raise invalid(error)


def invalid(error: ValidationError) -> Problem:
    """A 422 that says which field, and why."""
    details = []
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        field = ".".join(str(part) for part in item["loc"]) or "the body"
        details.append(f"{field}: {item['msg']}")
    return Problem(422, "invalid", "; ".join(details[:5]) + ".")


spec = SpecTree(
    "flask",
    title="gpujudge",
    version=__version__,
    description="Judge CUDA kernels, read leaderboards. Make a token on the account page, or by POST /api/v1/tokens.",
    before=_refuse_invalid,
    validation_error_status=422,
    validation_error_model=Error,
    annotations=True,
    mode="strict",
    naming_strategy=lambda model: model.__name__,
    nested_naming_strategy=lambda _parent, child: child,
    security_schemes=[SecurityScheme(name="token", data=SecuritySchemeData(type=SecureType.HTTP, scheme="bearer"))],
)

P = ParamSpec("P")


def operation(
    success: type[BaseModel] | None, *errors: int, status: int = 200, token: bool = True, tag: str
) -> Callable[[Callable[P, Any]], Callable[P, FlaskResponse]]:
    """Puts a view into the document: its answer (None: one that is not JSON), its errors, which all have one form, and
    whether it needs a token. Bodies, queries and headers come from the view's annotations."""
    refused = {f"HTTP_{code}": Error for code in (*errors, *((401,) if token else ()), 503)}
    answers = Response(**{f"HTTP_{status}": success}, **refused)
    validate = spec.validate(resp=answers, tags=(tag,), security={"token": []} if token else None)
    return cast(Callable[[Callable[P, Any]], Callable[P, FlaskResponse]], validate)
