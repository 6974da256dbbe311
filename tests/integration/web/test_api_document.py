"""The API's document describes every field, and its examples are what the API takes and gives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from store.models import Role
from tests.integration.web.timed_site import promoted
from tests.web_site import H200, PASSWORD, fixed_clock, make_site
from web.api.field_texts import field_texts

#: Requests whose example can be sent as it is, in this order, and the status of their responses.
SENT = """
/api/v1/tokens 201
/api/v1/submissions 201
/api/v1/classes 201
/api/v1/classes/{number}/assignments 201
/api/v1/contests 201
"""


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Any:
    site = make_site(tmp_path_factory.mktemp("site"))
    return site.app.test_client().get("/api/v1/openapi.json").get_json()


def described(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Yields each field and parameter: where it is, its name, what describes it, and its schema."""
    for name, schema in document["components"]["schemas"].items():
        for field, part in schema.get("properties", {}).items():
            yield name, field, part, part
    for path, operations in document["paths"].items():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                yield path, parameter["name"], parameter, parameter["schema"]


def test_every_field_has_a_description_and_every_plain_one_an_example(document: dict[str, Any]) -> None:
    fields = list(described(document))
    assert len(fields) > 900
    silent = [f"{where} {name}" for where, name, part, _ in fields if not part.get("description", "").endswith(".")]
    assert silent == [], "describe them in web/api/fields.toml"
    bare = [
        f"{where} {name}" for where, name, _, schema in fields if "examples" not in schema and "$ref" not in str(schema)
    ]
    assert bare == [], "give an example in web/api/fields.toml"


def test_every_example_has_the_form_of_its_field(document: dict[str, Any]) -> None:
    wrong = [
        f"{where} {name}: {example}" for where, name, _, schema in described(document)
        for example in schema.get("examples", ())
        if not Draft202012Validator({**schema, "components": document["components"]}).is_valid(example)
    ]  # fmt: skip
    assert wrong == []


def test_the_table_describes_nothing_that_is_not_there(document: dict[str, Any]) -> None:
    there: dict[str, set[str]] = {}
    for where, name, _, _ in described(document):
        there.setdefault(where, set()).add(name)
    table = {section: set(fields) for section, fields in field_texts().items() if section not in {"any", "bodies"}}
    assert set(table) <= set(there)
    assert set(field_texts()["any"]) <= set.union(*there.values())
    assert set(field_texts()["bodies"]) <= set(there)


def test_the_examples_of_requests_can_be_sent(document: dict[str, Any], tmp_path: Path) -> None:
    site = make_site(tmp_path, clock=fixed_clock)
    site.add_device(H200)
    client = promoted(site, "ada", Role.TEACHER)
    headers = {"Authorization": f"Bearer {site.token_of('ada')}"}
    for line in SENT.strip().splitlines():
        path, status = line.split()
        body = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["example"]
        answer = client.post(path.replace("{number}", "1"), json=body, headers=headers)
        assert answer.status_code == int(status), (path, answer.text)
    assert PASSWORD in json.dumps(document)  # the example logs this site's users in
