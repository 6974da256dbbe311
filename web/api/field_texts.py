"""Describes the fields of the API's document, from the table beside this file (``fields.toml``).

A field is looked up in the section of its schema, for parameters also in that of their address, then in ``[any]``. The
table covers our own models and the engine's classes, which know nothing of the API.
"""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path
from typing import Any

_ANY, _BODIES = "any", "bodies"
_TABLE = Path(__file__).with_name("fields.toml")


def describe_fields(document: dict[str, Any]) -> None:
    """Adds a description to each field and parameter of an OpenAPI document, with an example where the table has one.

    Each JSON body gets an example with the fields that it needs. Names that are not in the table stay as they are.
    """
    schemas = document["components"]["schemas"]
    for name, schema in schemas.items():
        for field, described in schema.get("properties", {}).items():
            _describe(described, described, field, name)
    for path, operations in document["paths"].items():
        for operation in operations.values():
            query = _query_of(operation, schemas)
            for parameter in operation.get("parameters", ()):
                _describe(parameter, parameter["schema"], parameter["name"], path, query)
            for media in operation.get("requestBody", {}).get("content", {}).values():
                name = media["schema"]["$ref"].rpartition("/")[2]
                media["example"] = _example_of(schemas[name], field_texts()[_BODIES].get(name))


def _describe(described: dict[str, Any], schema: dict[str, Any], field: str, *sections: str) -> None:
    for section in (*sections, _ANY):
        if found := field_texts().get(section, {}).get(field):
            described["description"] = found[0]
            if found[1:]:
                schema["examples"] = found[1:]
            return


def _query_of(operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    """Returns the name of the model of an operation's query or headers: the one that has all of these names."""
    names = {one["name"] for one in operation.get("parameters", ()) if one["in"] != "path"}
    found = (name for name, schema in schemas.items() if set(schema.get("properties", {})) == names)
    return next((name for name in found if name.endswith(("Query", "Headers"))), "")


def _example_of(body: dict[str, Any], names: list[str] | None) -> dict[str, Any]:
    """Returns an example with these fields, or else those that a body needs; if it needs none, with its first."""
    fields = body.get("properties", {})
    shown = {name: fields[name]["examples"][0] for name in fields if "examples" in fields[name]}
    needed = names or [name for name in body.get("required", ()) if name in shown] or list(shown)[:1]
    return {name: shown[name] for name in needed}


@functools.cache
def field_texts() -> dict[str, dict[str, list[Any]]]:
    """Returns the table: by section and field, a description and perhaps an example."""
    table: dict[str, dict[str, list[Any]]] = {}
    for sections, fields in tomllib.loads(_TABLE.read_text(encoding="utf-8")).items():
        for section in sections.split(", "):
            table.setdefault(section, {}).update(fields)
    return table
