"""The API's operations for readers: what each does, what it takes, and a command that calls it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_METHODS = ("get", "post", "put", "patch", "delete")
#: What an example has where the document gives only a type.
_SAMPLES = {"string": "text", "integer": 1, "number": 1.0, "boolean": True}
#: What stands for a parameter of a path.
_IN_PATHS = {"slug": "vector-add", "public_id": "abcdefghijkl", "username": "ada", "key": "emulator", "name": "sign_up"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the path, the query or the body. ``kind`` is its type in words."""

    name: str
    place: str
    kind: str
    required: bool
    description: str


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation. ``anchor`` names it within the page; ``example`` is a command for a shell."""

    anchor: str
    method: str
    path: str
    summary: str
    description: str
    needs_token: bool
    parameters: tuple[Parameter, ...]
    answers: tuple[str, ...]
    example: str


def operations_by_tag(document: Mapping[str, Any], server: str) -> dict[str, list[Operation]]:
    """Returns the operations of an OpenAPI document by their tags, in the document's order of both."""
    found: dict[str, list[Operation]] = defaultdict(list)
    for path, item in document["paths"].items():
        for method in _METHODS:
            if method in item:
                found[item[method]["tags"][0]].append(_operation(document, server, path, method, item[method]))
    return {tag["name"]: found[tag["name"]] for tag in document["tags"] if found[tag["name"]]}


def _operation(document: Mapping[str, Any], server: str, path: str, method: str, given: Mapping[str, Any]) -> Operation:
    parameters = [
        Parameter(
            each["name"],
            each["in"],
            _kind(document, each.get("schema", {})),
            bool(each.get("required")),
            each.get("description", ""),
        )
        for each in given.get("parameters", ())
    ]
    body = given.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    fields = {} if body is None else _resolved(document, body)
    for name, schema in fields.get("properties", {}).items():
        parameters.append(
            Parameter(
                name, "body", _kind(document, schema), name in fields.get("required", ()), schema.get("description", "")
            )
        )
    needs_token = bool(given.get("security", document.get("security")))
    return Operation(
        anchor=f"{method}-{path.strip('/').replace('/', '-').replace('{', '').replace('}', '')}",
        method=method.upper(),
        path=path,
        summary=given.get("summary", ""),
        description=given.get("description", ""),
        needs_token=needs_token,
        parameters=tuple(parameters),
        answers=tuple(sorted(given.get("responses", {}))),
        example=_command(document, server, path, method, needs_token, fields),
    )


def _command(
    document: Mapping[str, Any], server: str, path: str, method: str, needs_token: bool, body: Mapping[str, Any]
) -> str:
    for name, value in _IN_PATHS.items():
        path = path.replace(f"{{{name}}}", value)
    words = ["curl"]
    if method != "get":
        words.append(f"-X {method.upper()}")
    if needs_token:
        words.append('-H "Authorization: Bearer $GPUJUDGE_TOKEN"')
    if body:
        required = body.get("required") or list(body.get("properties", {}))[:1]
        sample = {name: _sample(document, body["properties"][name]) for name in required}
        words.append(f"--json '{json.dumps(sample)}'")
    return " ".join([*words, f"{server}{path}"])


def _resolved(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the schema that a reference names, or the schema itself."""
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def _kind(document: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    schema = _resolved(document, schema)
    if "enum" in schema:
        return " or ".join(map(str, schema["enum"]))
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " or ".join(dict.fromkeys(_kind(document, each) for each in schema[union]))
    kind = schema.get("type", "any")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _sample(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Any:
    schema = _resolved(document, schema)
    for known in ("examples", "enum"):
        if schema.get(known):
            return schema[known][0]
    if "default" in schema:
        return schema["default"]
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return _sample(document, schema[union][0])
    if schema.get("type") == "array":
        return [_sample(document, schema.get("items", {}))]
    return _SAMPLES.get(str(schema.get("type")), {})
