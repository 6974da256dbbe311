"""Clients that two generators make from the API's document, in a session with a site over HTTP."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from store.models import Role
from tests.e2e.conftest import Served
from tests.integration.web.timed_site import promoted
from tests.web_site import PASSWORD, accepted, make_site, on_emulator

#: What an operation answered: its status and its JSON.
Answer = tuple[int, Any]

SOURCE = 'extern "C" void solve(const float* A, const float* B, float* C, int N) {}\n'


_REFERENCE = re.compile(r"#/components/schemas/(\w+)")


class Client(Protocol):
    """A generated client, whose operations go by the names in the document."""

    def call(self, operation: str, body: dict[str, Any] | None = None, **parameters: Any) -> Answer:
        """Returns the answer of an operation, once the client's own models have read it."""


class _Document:
    """The API's document, by operation."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._operations = {
            operation["operationId"]: operation
            for operations in document["paths"].values()
            for operation in operations.values()
        }

    def tag(self, operation: str) -> str:
        tag: str = self._operations[operation]["tags"][0]
        return tag

    def enumerations(self, operation: str) -> dict[str, str]:
        """Returns the parameters of an operation that are enumerations, each with the name of its schema."""
        schemas = {each["name"]: json.dumps(each["schema"]) for each in self._operations[operation]["parameters"]}
        return {name: found[1] for name, schema in schemas.items() if (found := _REFERENCE.search(schema))}

    def body(self, operation: str) -> str:
        """Returns the name of the schema of an operation's request."""
        schema: str = self._operations[operation]["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        return schema.rpartition("/")[2]


class PythonClient:
    """A client by openapi-python-client: a function for each operation."""

    def __init__(self, document: _Document, url: str, token: str | None) -> None:
        self._document = document
        package = importlib.import_module("made_by_python_client")
        self._models = importlib.import_module("made_by_python_client.models")
        self._client = package.AuthenticatedClient(url, token) if token else package.Client(url)

    def call(self, operation: str, body: dict[str, Any] | None = None, **parameters: Any) -> Answer:
        parameters = _typed(parameters, self._models, self._document.enumerations(operation))
        module = importlib.import_module(f"made_by_python_client.api.{self._document.tag(operation)}.{operation}")
        if body is not None:
            parameters["body"] = getattr(self._models, self._document.body(operation)).from_dict(body)
        answer = module.sync_detailed(client=self._client, **parameters)
        assert answer.parsed is not None, f"{operation}: {answer.status_code} is not in the document"
        return int(answer.status_code), _plain(answer.parsed)


class GeneratorClient:
    """A client by openapi-generator: a class for each tag, and exceptions for errors."""

    def __init__(self, document: _Document, url: str, token: str | None) -> None:
        self._document = document
        self._package = importlib.import_module("made_by_generator")
        self._models = importlib.import_module("made_by_generator.models")
        settings = self._package.Configuration(host=url, access_token=token)
        self._client = self._package.ApiClient(settings)

    def call(self, operation: str, body: dict[str, Any] | None = None, **parameters: Any) -> Answer:
        parameters = _typed(parameters, self._models, self._document.enumerations(operation))
        if body is not None:
            schema = self._document.body(operation)
            parameters[re.sub(r"(?<!^)([A-Z])", r"_\1", schema).lower()] = getattr(self._models, schema)(**body)
        api = getattr(self._package, f"{self._document.tag(operation).capitalize()}Api")(self._client)
        try:
            answer = getattr(api, f"{operation}_with_http_info")(**parameters)
        except self._package.ApiException as error:
            return int(error.status), _plain(error.data)
        return int(answer.status_code), _plain(answer.data)


def _typed(parameters: dict[str, Any], models: Any, enumerations: dict[str, str]) -> dict[str, Any]:
    return {
        name: getattr(models, enumerations[name])(value) if name in enumerations else value
        for name, value in parameters.items()
    }


def _plain(model: Any) -> Any:
    if isinstance(model, list):
        return [_plain(each) for each in model]
    return model.to_dict() if hasattr(model, "to_dict") else model


Connect = Callable[[str, str | None], Client]


def _python_client(document: Path, folder: Path) -> type[Client]:
    command = ["openapi-python-client", "generate", "--meta", "none", "--fail-on-warning"]
    _run([*command, "--path", str(document), "--output-path", str(folder / "made_by_python_client")])
    return PythonClient


def _generator(document: Path, folder: Path) -> type[Client]:
    command = ["openapi-generator-cli", "generate", "--generator-name", "python"]
    _run([*command, "-i", str(document), "-o", str(folder), "--package-name", "made_by_generator"])
    return GeneratorClient


def _run(command: list[str]) -> None:
    # Generators call others that are installed beside them.
    beside = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    command[0] = str(Path(sys.executable).parent / command[0])
    made = subprocess.run(command, env=beside, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(_python_client, id="openapi-python-client"),
        pytest.param(_generator, id="openapi-generator", marks=pytest.mark.exhaustive(costly=True)),
    ],
)
def connect(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connect]:
    """Makes a client for the site at a URL, with a token or without."""
    folder = tmp_path_factory.mktemp("generated")
    document = make_site(folder / "data").app.test_client().get("/api/v1/openapi.json").get_json()
    path = folder / "openapi.json"
    path.write_text(json.dumps(document))
    made = request.param(path, folder / "client")
    operations = _Document(document)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder / "client")
        yield lambda url, token: made(operations, url, token)
    for name in [name for name in sys.modules if name.startswith("made_by_")]:
        del sys.modules[name]


def test_a_session(connect: Connect, served: Served) -> None:
    served.site.add_user()
    visitor = connect(served.url, None)
    status, refused = visitor.call("get_me")
    assert (status, refused["code"]) == (401, "unauthorized")
    status, token = visitor.call("create_token", {"username": "ada", "password": PASSWORD, "name": "generated"})
    assert status == 201

    ada = connect(served.url, token["token"])
    assert ada.call("get_me")[1]["username"] == "ada"
    status, found = ada.call("list_challenges", q="vector addition")
    assert status == 200
    assert "vector-add" in {challenge["slug"] for challenge in found["challenges"]}
    assert "solve" in ada.call("get_starter", slug="vector-add")[1]

    request = {"challenge": "vector-add", "device": "emulator", "source": SOURCE}
    status, sent = ada.call("create_submission", request, idempotency_key="once")
    assert status == 201
    assert ada.call("create_submission", request, idempotency_key="once")[1]["id"] == sent["id"]
    status, refused = ada.call("create_submission", {**request, "challenge": "vector-ad"})
    assert status == 404
    assert "vector-ad" in refused["detail"]

    served.site.work(cases=accepted("n-1"), measurement=on_emulator())
    status, report = ada.call("get_submission", public_id=sent["id"], wait_s=5)
    assert (status, report["state"], report["judgement"]["verdict"]) == (200, "done", "AC")
    assert [event["kind"] for event in ada.call("list_submission_events", public_id=sent["id"])[1]][-1] == "done"
    assert [each["id"] for each in ada.call("list_submissions", verdict="AC")[1]["submissions"]] == [sent["id"]]
    assert [
        each["username"] for each in ada.call("get_leaderboard", slug="vector-add", device="emulator")[1]["entries"]
    ] == ["ada"]
    assert ada.call("admin_list_users")[0] == 403


def test_a_class(connect: Connect, served: Served) -> None:
    promoted(served.site, "grace", Role.TEACHER)
    served.site.add_user()
    grace, ada = (connect(served.url, served.site.token_of(name)) for name in ("grace", "ada"))
    assert ada.call("create_class", {"title": "Parallel programming"})[0] == 404
    status, made = grace.call("create_class", {"title": "Parallel programming"})
    assert status == 201
    number = made["number"]
    task = {"title": "Sheet 1", "challenges": ["vector-add"], "due_at": "2999-01-01T12:00:00Z", "device": "emulator"}
    status, assignment = grace.call("create_assignment", task, number=number)
    assert status == 201, assignment
    assert ada.call("join_class", {"code": made["code"], "known_as": "Ada L."})[0] == 200
    assert [each["known_as"] for each in grace.call("list_members", number=number)[1]["members"]] == ["Ada L."]
    ada.call("create_submission", {"challenge": "vector-add", "device": "emulator", "source": SOURCE})
    served.site.work(cases=accepted("n-1"), measurement=on_emulator())
    (grades,) = grace.call("list_grades", number=number)[1]["grades"]
    assert [each["outcome"] for sheet in grades["assignments"] for each in sheet["challenges"]] == ["counts"]
    assert "Ada L." in grace.call("export_grades", number=number)[1]
    assert ada.call("get_roster", number=number)[0] == 404


def test_a_contest(connect: Connect, served: Served) -> None:
    promoted(served.site, "grace", Role.TEACHER)
    served.site.add_user()
    grace, ada = (connect(served.url, served.site.token_of(name)) for name in ("grace", "ada"))
    times = {"starts_at": "2026-01-01T12:00:00Z", "ends_at": "2999-01-01T12:00:00Z"}
    task = {"title": "Spring", "slug": "spring", "challenges": ["vector-add"], "devices": ["emulator"], **times}
    status, contest = grace.call("create_contest", task)
    assert status == 201, contest
    assert ada.call("join_contest", {}, slug="spring")[0] == 200
    ada.call("create_submission", {"challenge": "vector-add", "device": "emulator", "source": SOURCE})
    served.site.work(cases=accepted("n-1"), measurement=on_emulator())
    (row,) = ada.call("get_standings", slug="spring")[1]["standings"]
    assert (row["rank"], row["name"]) == (1, "ada")
    assert [each["username"] for each in grace.call("list_contest_submissions", slug="spring")[1]["submissions"]] == [
        "ada"
    ]
    status, changed = grace.call("update_contest", {"title": "Summer"}, slug="spring")
    assert (status, changed["title"], changed["challenges"]) == (200, "Summer", ["vector-add"])
    status, problem = grace.call("update_contest", {"challenges": ["vector-ad"]}, slug="spring")
    assert status == 422
    assert "vector-ad" in problem["fields"]["challenges"]
