from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from jsonschema_rs import Draft202012Validator

from judge.judgement_json import read_judgement, to_json
from tests.stored_judgements import STORED, load_stored
from tests.web_site import KERNEL, PASSWORD, Site, accepted, make_site, on_emulator

BODY = {"challenge": "vector-add", "device": "emulator", "mode": "submit", "source": KERNEL}


class Caller:
    """A program with a token."""

    def __init__(self, site: Site, username: str = "ada") -> None:
        site.add_user(username)
        self.client: FlaskClient = site.app.test_client()
        self.headers = {"Authorization": f"Bearer {site.token_of(username)}"}

    def get(self, path: str, **headers: str) -> Any:
        return self.client.get(f"/api/v1/{path}", headers={**self.headers, **headers})

    def post(self, path: str, body: Mapping[str, Any] | None = None, **headers: str) -> Any:
        return self.client.post(f"/api/v1/{path}", json=body, headers={**self.headers, **headers})


@pytest.fixture
def caller(site: Site) -> Caller:
    return Caller(site)


def test_challenges(caller: Caller) -> None:
    listed = {item["slug"]: item for item in caller.get("challenges").get_json()["challenges"]}
    assert listed["vector-add"].keys() == {"slug", "title", "version", "difficulty", "tags", "aliases"}
    one = caller.get("challenges/vector-add").get_json()
    assert one["signature"].startswith('extern "C" void solve(')
    assert "$$" in one["statement"]
    assert one["limits"]["source_bytes"] == 256 * 1024
    assert {case["group"] for case in one["cases"]} == {"sample", "hidden", "benchmark"}
    assert caller.get("challenges/vector-add/starter").text == one["starter"]
    assert caller.get("devices").get_json()["devices"][0]["key"] == "emulator"


def test_a_token_for_a_password(site: Site) -> None:
    site.add_user("ada")
    client = site.app.test_client()
    body = {"username": "Ada", "password": PASSWORD, "name": "laptop"}
    answer = client.post("/api/v1/tokens", json=body)
    assert answer.status_code == 201
    headers = {"Authorization": f"Bearer {answer.get_json()['token']}"}
    assert client.get("/api/v1/me", headers=headers).get_json() == {"username": "ada"}
    refused = client.post("/api/v1/tokens", json={**body, "password": "wrong password"})
    assert refused.status_code == 401
    assert refused.get_json()["code"] == "unauthorized"


def test_from_submission_to_board(site: Site, caller: Caller) -> None:
    answer = caller.post("submissions", BODY)
    assert answer.status_code == 201
    status = answer.get_json()
    assert status["state"] == "queued"
    assert status["position"] == 1
    assert status["judgement"] is None
    assert status["url"] == f"http://localhost/submissions/{status['id']}"
    site.work(cases=accepted("a", "b"), measurement=on_emulator())
    done = caller.get(f"submissions/{status['id']}").get_json()
    assert (done["state"], done["verdict"], done["position"]) == ("done", "AC", None)
    assert done["judgement"]["measurement"]["value"] == 4.242e-3
    events = caller.get(f"submissions/{status['id']}/events?after=4", Accept="application/json").get_json()
    assert [(event["seq"], event["kind"]) for event in events] == [(5, "case"), (6, "case"), (7, "timing"), (8, "done")]
    stream = caller.get(f"submissions/{status['id']}/events", Accept="text/event-stream")
    assert stream.mimetype == "text/event-stream"
    assert stream.text.startswith("event: hello")
    assert stream.text.rstrip().endswith("event: end\ndata: {}")
    assert [item["id"] for item in caller.get("submissions?challenge=vector-add").get_json()["submissions"]] == [
        status["id"]
    ]
    board = caller.get("leaderboards/vector-add?device=emulator").get_json()
    assert board["metric"] == "modelled_time_s/h200/1"
    assert [(entry["rank"], entry["username"], entry["submission"]) for entry in board["entries"]] == [
        (1, "ada", status["id"])
    ]


def test_events_come_as_they_happen(site: Site, caller: Caller) -> None:
    public_id = caller.post("submissions", BODY).get_json()["id"]
    headers = {**caller.headers, "Accept": "text/event-stream"}
    stream = caller.client.get(f"/api/v1/submissions/{public_id}/events", headers=headers, buffered=False)
    assert stream.headers["Content-Type"].startswith("text/event-stream")
    frames = iter(stream.response)
    assert next(frames).startswith(b"event: hello")
    assert b"event: queued" in next(frames)
    assert site.services.streams.open == 1
    stream.close()
    assert site.services.streams.open == 0


def test_an_idempotency_key_makes_one_submission(caller: Caller) -> None:
    ids = {caller.post("submissions", BODY, **{"Idempotency-Key": "abc"}).get_json()["id"] for _ in range(2)}
    assert len(ids) == 1
    conflict = caller.post("submissions", {**BODY, "source": "other"}, **{"Idempotency-Key": "abc"})
    assert conflict.status_code == 409
    assert conflict.get_json()["code"] == "idempotency_conflict"


def test_the_source_is_given_back_byte_for_byte_to_its_owner(caller: Caller) -> None:
    public_id = caller.post("submissions", BODY).get_json()["id"]
    answer = caller.get(f"submissions/{public_id}/source")
    assert (answer.status_code, answer.data) == (200, BODY["source"].encode())
    assert caller.get("submissions/nothing/source").status_code == 404


def test_cancelling_twice_is_harmless(caller: Caller) -> None:
    public_id = caller.post("submissions", BODY).get_json()["id"]
    assert caller.post(f"submissions/{public_id}/cancel").get_json() == {"cancelled": True}
    assert caller.post(f"submissions/{public_id}/cancel").get_json() == {"cancelled": False}
    assert caller.get(f"submissions/{public_id}").get_json()["state"] == "cancelled"


@pytest.mark.parametrize(
    ("change", "status", "code", "nearest"),
    [
        ({"challenge": "vector-ad"}, 404, "unknown_challenge", ["vector-add"]),
        ({"device": "emulater"}, 404, "unknown_device", ["emulator"]),
        ({"mode": "benchmark"}, 422, "invalid", []),
        ({"source": 7}, 422, "invalid", []),
        ({"sauce": "x"}, 422, "invalid", []),
        ({"source": "x" * (256 * 1024 + 1)}, 413, "too_large", []),
    ],
)
def test_bad_submissions_are_told_why(
    caller: Caller, change: dict[str, Any], status: int, code: str, nearest: list[str]
) -> None:
    answer = caller.post("submissions", {**BODY, **change})
    assert answer.status_code == status
    error = answer.get_json()
    assert error["code"] == code
    assert error["nearest"][:1] == nearest[:1]  # others are near, too, where there are many challenges
    assert bool(error["nearest"]) == bool(nearest)
    assert error["detail"]


def test_a_source_may_be_several_files(site: Site, caller: Caller) -> None:
    files = [
        {"name": "inc/add.cuh", "text": "#pragma once\n"},
        {"name": "add.cu", "text": '#include "inc/add.cuh"\nvoid solve() {}'},
    ]
    body = {**{key: BODY[key] for key in BODY if key != "source"}, "files": files}
    answer = caller.post("submissions", body)
    assert answer.status_code == 201
    kept = site.submission(answer.get_json()["id"])
    with site.database() as session:
        assert session.merge(kept).source == (
            '#include "inc/add.cuh"\nvoid solve() {}\n// gpujudge: file=inc/add.cuh\n#pragma once\n'
        )
    files[0]["name"] = "../add.cuh"
    assert "is not a name of a header" in caller.post("submissions", body).get_json()["detail"]
    assert caller.post("submissions", {**BODY, "files": files}).status_code == 422
    assert caller.post("submissions", {**body, "files": None}).status_code == 422


@pytest.mark.parametrize("source", ["", "\x00", "\ud800", "int x;"])
def test_what_is_wrong_inside_the_source_is_for_the_compiler_to_say(site: Site, caller: Caller, source: str) -> None:
    answer = caller.post("submissions", {**BODY, "source": source})
    assert answer.status_code == 201
    kept = site.submission(answer.get_json()["id"])
    with site.database() as session:
        assert session.merge(kept).source_bytes == source.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({"data": "{", "content_type": "application/json"}, 400),
        ({"data": b"\xff", "content_type": "application/json"}, 400),
        ({"data": "[1]", "content_type": "application/json"}, 422),
        ({"data": "source=x", "content_type": "application/x-www-form-urlencoded"}, 415),
        ({"data": "", "content_type": "application/json"}, 422),
        ({"data": b"x" * (3 << 20), "content_type": "application/json"}, 413),
    ],
)
def test_bad_bodies_are_told_why(caller: Caller, options: dict[str, Any], status: int) -> None:
    answer = caller.client.post("/api/v1/submissions", headers=caller.headers, **options)
    assert answer.status_code == status
    assert answer.get_json()["detail"]


@pytest.mark.parametrize("header", [None, "Bearer", "Bearer nope", "Basic YTpi", "Bearer gpj_é"])
def test_without_a_valid_token_nothing_else_is_looked_at(site: Site, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header}
    answer = site.app.test_client().post("/api/v1/submissions", json={"nonsense": 1}, headers=headers)
    assert answer.status_code == 401
    assert answer.get_json()["code"] == "unauthorized"
    assert answer.headers["WWW-Authenticate"].startswith('Bearer realm="gpujudge"')
    assert ("invalid_token" in answer.headers["WWW-Authenticate"]) == (header in ("Bearer nope", "Bearer gpj_é"))


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "nothing", 404), ("DELETE", "challenges", 405), ("GET", "submissions/xxxx", 404), ("GET", "", 404)],
)
def test_every_error_is_json(caller: Caller, method: str, path: str, status: int) -> None:
    answer = caller.client.open(f"/api/v1/{path}", method=method, headers=caller.headers)
    assert answer.status_code == status
    assert answer.mimetype == "application/problem+json"
    told = answer.get_json()
    assert told.keys() == {"type", "title", "status", "detail", "code", "nearest", "fields"}
    assert told["status"] == status


@pytest.mark.parametrize("query", ["limit=0", "limit=1000", "limit=x", "unknown=1", "before=%00"])
def test_queries_are_checked(caller: Caller, query: str) -> None:
    answer = caller.get(f"submissions?{query}")
    assert answer.status_code == 422
    assert answer.get_json()["fields"].keys() == {query.partition("=")[0]}


def test_the_document_names_every_address(site: Site, caller: Caller) -> None:
    document = caller.get("openapi.json").get_json()
    served = {
        re.sub(r"<(?:[^<>]*:)?(\w+)>", r"{\1}", str(rule))
        for rule in site.app.url_map.iter_rules()
        if str(rule).startswith("/api/v1/")
    }
    assert set(document["paths"]) == served - {"/api/v1/openapi.json"}
    create = document["paths"]["/api/v1/submissions"]["post"]
    assert create["security"] == [{"token": []}]
    assert {"201", "401", "404", "409", "413", "422", "429"} <= set(create["responses"])
    assert [parameter["name"] for parameter in create["parameters"]] == ["Idempotency-Key"]
    assert document["components"]["securitySchemes"]["token"] == {"type": "http", "scheme": "bearer"}


def schema_of(document: dict[str, Any], name: str) -> dict[str, Any]:
    """One of the document's schemas, with the others where its references look for them."""
    return {"$ref": f"#/components/schemas/{name}", "components": document["components"]}


@pytest.mark.parametrize("name", STORED)
def test_the_document_describes_every_judgement(caller: Caller, name: str) -> None:
    document = caller.get("openapi.json").get_json()
    told = json.loads(json.dumps(to_json(read_judgement(load_stored(name)))))
    schema = Draft202012Validator(schema_of(document, "Judgement"))
    schema.validate(told)
    assert not schema.is_valid({**told, "cases": [{"id": 7}]})


def test_the_document_describes_every_event(site: Site, caller: Caller) -> None:
    public_id = caller.post("submissions", BODY).get_json()["id"]
    site.work(cases=accepted("a", "b"), measurement=on_emulator())
    events = caller.get(f"submissions/{public_id}/events", Accept="application/json").get_json()
    document = caller.get("openapi.json").get_json()
    schema = Draft202012Validator(schema_of(document, "EventList"))
    schema.validate(events)
    assert {event["kind"] for event in events} >= {"queued", "building", "built", "running", "case", "timing", "done"}
    assert not schema.is_valid([{**events[0], "kind": "case"}])
    media = document["paths"]["/api/v1/submissions/{public_id}/events"]["get"]["responses"]["200"]["content"]
    assert media.keys() == {"application/json", "text/event-stream"}


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("application/json", "application/json"),
        ("text/event-stream", "text/event-stream"),
        ("*/*", "application/json"),
        ("text/event-stream;q=0.1, application/json", "application/json"),
        ("text/event-stream, application/json;q=0.1", "text/event-stream"),
        ("text/html", None),
    ],
)
def test_events_come_in_the_form_that_is_preferred(caller: Caller, accept: str, form: str | None) -> None:
    public_id = caller.post("submissions", BODY).get_json()["id"]
    caller.post(f"submissions/{public_id}/cancel")
    answer = caller.get(f"submissions/{public_id}/events", Accept=accept)
    if form is None:
        assert (answer.status_code, answer.get_json()["code"]) == (406, "not_acceptable")
    else:
        assert (answer.status_code, answer.mimetype) == (200, form)


@pytest.mark.parametrize(
    "path", ["challenges", "challenges/vector-add", "challenges/vector-add/starter", "tracks", "openapi.json"]
)
@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_what_has_not_changed_is_not_sent_again(caller: Caller, path: str, encoding: str) -> None:
    headers = {"Accept-Encoding": encoding}
    first = caller.get(path, **headers)
    assert first.headers["Cache-Control"] == "no-cache"
    again = caller.get(path, **headers, **{"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    assert caller.get(path, **headers, **{"If-None-Match": 'W/"other"'}).status_code == 200


def test_the_document_suits_generators_of_clients(caller: Caller) -> None:
    document = caller.get("openapi.json").get_json()
    operations = [one for path in document["paths"].values() for one in path.values()]
    named = [one["operationId"] for one in operations]
    assert all(re.fullmatch(r"(admin_)?[a-z]+(_[a-z]+)+", name) for name in named), "a verb and a noun"
    reading = {one["get"]["operationId"] for one in document["paths"].values() if "get" in one}
    assert {name.removeprefix("admin_").partition("_")[0] for name in reading} == {"get", "list", "export"}
    assert len(named) == len(set(named))
    assert all(re.fullmatch(r"[A-Z][A-Za-z]+", name) for name in document["components"]["schemas"])
    assert "-inf" not in {value for part in enumerations(document) for value in part}


def enumerations(part: Any) -> Iterator[list[Any]]:
    if isinstance(part, dict):
        if isinstance(part.get("enum"), list):
            yield part["enum"]
        for value in part.values():
            yield from enumerations(value)
    elif isinstance(part, list):
        for value in part:
            yield from enumerations(value)


def test_submissions_are_filtered_by_verdict_state_and_device(site: Site, caller: Caller) -> None:
    judged, waiting = (caller.post("submissions", {**BODY, "source": f"// {n}"}).get_json()["id"] for n in range(2))
    site.work(cases=accepted("a"))

    def ids(query: str) -> list[str]:
        return [one["id"] for one in caller.get(f"submissions?{query}").get_json()["submissions"]]

    assert ids("verdict=AC") == ids("state=done") == [judged]
    assert ids("state=queued") == [waiting]
    assert ids("verdict=WA") == ids("device=no-device") == []
    assert caller.get("submissions?state=lost").get_json()["fields"].keys() == {"state"}


def test_a_request_waits_for_the_end(site: Site, caller: Caller) -> None:
    public_id = caller.post("submissions", BODY).get_json()["id"]
    begun, told = threading.Event(), list[str]()
    listen = site.services.event_watcher.listen

    def noted(*args: Any) -> Any:
        begun.set()
        return listen(*args)

    site.services.event_watcher.listen = noted  # type: ignore[method-assign]
    waiter = threading.Thread(
        target=lambda: told.append(caller.get(f"submissions/{public_id}?wait_s=30").get_json()["state"])
    )
    waiter.start()
    assert begun.wait(20)
    site.work(cases=accepted("a"))
    waiter.join(20)
    assert told == ["done"]
    assert site.services.polls.open == 0
    assert caller.get(f"submissions/{public_id}?wait_s=31").status_code == 422


def test_a_limit_names_itself_and_the_seconds(data_dir: Path) -> None:
    site = make_site(data_dir, submission_rate="1 per minute")
    site.add_device()
    caller = Caller(site, "ada")
    assert caller.post("submissions", BODY).status_code == 201
    refused = caller.post("submissions", {**BODY, "source": "// again"})
    seconds = refused.headers["Retry-After"]
    assert refused.get_json()["detail"] == f"That was too often: the limit is 1 per 1 minute. Try again in {seconds} s."


def test_lists_name_their_next_page(caller: Caller) -> None:
    ids = [caller.post("submissions", {**BODY, "source": f"// {n}"}).get_json()["id"] for n in range(3)]
    first = caller.get("submissions?limit=2&challenge=vector-add").get_json()
    assert [item["id"] for item in first["submissions"]] == ids[:0:-1]
    assert first["next"].startswith("http://localhost/api/v1/submissions?")
    second = caller.client.get(first["next"], headers=caller.headers).get_json()
    assert [item["id"] for item in second["submissions"]] == ids[:1]
    assert second["next"] is None


def test_a_board_names_its_next_page(site: Site, caller: Caller) -> None:
    for name in ("ada", "bob"):
        one = caller if name == "ada" else Caller(site, name)
        one.post("submissions", BODY)
        site.work(cases=accepted("a"), measurement=on_emulator())
    first = caller.get("leaderboards/vector-add?device=emulator&limit=1").get_json()
    second = caller.client.get(first["next"]).get_json()
    assert (first["page"], second["page"], second["next"]) == (1, 2, None)
    assert first["entries"][0]["username"] != second["entries"][0]["username"]


def test_only_what_is_accepted_counts_to_the_limit(data_dir: Path) -> None:
    site = make_site(data_dir, submission_rate="2 per hour")
    site.add_device()
    caller = Caller(site)
    refused = [{**BODY, "challenge": "nothing"}, {"nonsense": 1}, {**BODY, "source": "x" * (256 * 1024 + 1)}]
    assert [caller.post("submissions", body).status_code for body in refused * 2] == [404, 422, 413] * 2
    answers = [caller.post("submissions", {**BODY, "source": f"// {n}"}) for n in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 429]
    assert ["Retry-After" in answer.headers for answer in answers] == [False, False, True]
    assert answers[0].headers["X-RateLimit-Remaining"] == "1"


def test_malformed_credentials_do_not_count_to_the_limit(data_dir: Path) -> None:
    client = make_site(data_dir, log_in_rate="2 per hour").app.test_client()
    wrong = {"username": "ada", "password": "guess number"}
    bodies = [{**wrong, "scopes": []}] * 3 + [wrong] * 3
    answers = [client.post("/api/v1/tokens", json=body) for body in bodies]
    assert [answer.status_code for answer in answers] == [422, 422, 422, 401, 401, 429]
