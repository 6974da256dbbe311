"""Operators' actions by the API: who may, what each does, and that the log says by whom."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from werkzeug.test import TestResponse

from judge.gpu.calibration import Calibration
from store.devices import record_board
from store.models import Role
from store.people.accounts import create_token, find_user
from tests.web_site import H200, KERNEL, PASSWORD, Site, accepted, post, timed

SCOPES = ("read", "submit", "admin")
NO_CHECKS = {"waiting": 0, "running": 0, "oldest_wait_s": None, "failed": []}
LESS = (("read",), ("submit",), ("read", "submit"))


class Operator:
    """An operator with a token."""

    def __init__(self, site: Site, name: str = "root-of-all") -> None:
        self.site, self.name = site, name
        self.client = site.app.test_client()
        site.add_user(name)
        with site.database() as session:
            user = find_user(session, name)
            assert user is not None
            user.role = Role.OPERATOR
            self.token = create_token(session, user=user, name="admin", scopes=SCOPES)[1]

    def ask(self, method: str, path: str, body: Any = None) -> TestResponse:
        headers = {"Authorization": f"Bearer {self.token}"}
        return self.client.open(f"/api/v1/admin{path}", method=method, json=body, headers=headers)

    def get(self, path: str) -> Any:
        answer = self.ask("GET", path)
        assert answer.status_code == 200, answer.text
        return answer.get_json()

    def send(self, path: str, body: Any = None, *, method: str = "POST", status: int = 200) -> Any:
        answer = self.ask(method, path, body)
        assert answer.status_code == status, answer.text
        return answer.get_json()


@pytest.fixture
def operator(site: Site) -> Operator:
    site.add_device(H200)
    return Operator(site)


def submit(site: Site, name: str = "ada") -> str:
    client = site.visitor(name)
    data = {"source": KERNEL, "device": H200.key, "mode": "submit"}
    answer = post(client, "/challenges/vector-add/submissions", data, page="/challenges/vector-add")
    return str(answer.location).rsplit("/", 1)[1]


def test_a_token_needs_the_scope_and_its_owner_the_role(site: Site, operator: Operator) -> None:
    routes = sorted(
        (method, re.sub("<int.*?>", "1", rule.rule))
        for rule in site.app.url_map.iter_rules()
        if rule.rule.startswith("/api/v1/admin/")
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    )
    assert len(routes) > 20

    def refusals() -> dict[str, int]:
        """Returns why the routes refuse the token, and how many give each reason."""
        answers = [operator.ask(method, rule.removeprefix("/api/v1/admin"), {}) for method, rule in routes]
        assert {answer.status_code for answer in answers} == {403}
        return Counter(answer.get_json()["code"] for answer in answers)

    good = operator.token
    with site.database() as session:
        user = find_user(session, operator.name)
        assert user is not None
        less = [create_token(session, user=user, name="less", scopes=scopes)[1] for scopes in LESS]
    for operator.token in less:
        assert refusals() == {"scope": len(routes)}
    assert 'scope="admin"' in operator.ask("GET", "/queue").headers["WWW-Authenticate"]
    operator.token = good
    assert operator.get("/queue") == {"jobs": [], "rechecks": NO_CHECKS}
    for role in (Role.USER, Role.AUTHOR, Role.TEACHER):
        with site.database() as session:
            user = find_user(session, operator.name)
            assert user is not None
            user.role = role
        assert refusals() == {"role": len(routes)}


def test_only_operators_make_tokens_with_the_scope(site: Site, operator: Operator) -> None:
    site.add_user("ada")
    body = {"username": "ada", "password": PASSWORD, "scopes": ["read", "admin"]}
    refused = operator.client.post("/api/v1/tokens", json=body)
    assert (refused.status_code, refused.get_json()["code"]) == (403, "role")
    made = operator.client.post("/api/v1/tokens", json={**body, "username": "root-of-all"})
    assert made.get_json()["scopes"] == ["read", "admin"]
    operator.token = made.get_json()["token"]
    assert operator.get("/queue") == {"jobs": [], "rechecks": NO_CHECKS}
    form = {"name": "one", "scopes": "read submit admin", "expires": "30"}
    assert post(site.visitor("ada"), "/account/tokens", form, page="/account/").status_code == 422
    page = site.visitor("root-of-all")
    assert post(page, "/account/tokens", form, page="/account/").status_code == 302
    assert "read, submit and operate" in page.get("/account/").text


def test_users(site: Site, operator: Operator) -> None:
    ada = site.visitor("ada")
    (found,) = operator.get("/users?q=AD")["users"]
    assert (found["username"], found["role"], found["state"]) == ("ada", "user", "active")
    assert operator.send("/users/ada/role", {"role": "teacher"})["role"] == "teacher"
    suspended = operator.send("/users/ada/suspend", {"reason": " spam "})
    assert (suspended["state"], suspended["suspension"]) == ("suspended", "spam")
    assert ada.get("/account/").status_code == 302
    assert operator.send("/users/ada/restore")["state"] == "active"
    url = operator.send("/users/ada/reset-link", {})["url"]
    form = {"new": "another long one", "again": "another long one"}
    assert post(site.app.test_client(), url[url.index("/account/") :], form).status_code == 302
    assert operator.send("/users/root-of-all/role", {"role": "user"}, status=409)["code"] == "not_possible"
    assert operator.send("/users/ada/role", {"role": "king"}, status=422)["fields"].keys() == {"role"}
    assert operator.send("/users/ada/suspend", {"reason": " "}, status=422)["fields"].keys() == {"reason"}
    operator.send("/users/nobody/restore", status=404)
    log = operator.get("/log?target=user+ada")
    assert [(one["actor"], one["action"]) for one in log["actions"]] == [
        ("root-of-all", "reset link"),
        ("root-of-all", "restore"),
        ("root-of-all", "suspend"),
        ("root-of-all", "role"),
    ]
    first = operator.get("/log?target=user+ada&limit=1")
    assert operator.client.get(first["next"], headers={"Authorization": f"Bearer {operator.token}"}).get_json()[
        "actions"
    ] == [log["actions"][1]]


def test_submissions(site: Site, operator: Operator) -> None:
    sent = submit(site)
    (waiting,) = operator.get("/queue")["jobs"]
    assert (waiting["id"], waiting["user"], waiting["state"]) == (sent, "ada", "queued")
    assert waiting["since"] == waiting["created_at"]
    steps = site.work_in_steps(device=H200, cases=accepted("n-1"), measurement=timed())
    assert next(steps) == "building"
    (working,) = operator.get("/queue")["jobs"]
    assert (working["state"], working["worker"]) == ("building", "test")
    assert working["since"] > working["created_at"]
    operator.send(f"/submissions/{sent}/rejudge", {"reason": "early"}, status=409)
    assert list(steps)[-1] == "done"
    assert operator.send(f"/submissions/{sent}/off-board", {"reason": "copied"})["off_board"] == "copied"
    operator.send(f"/submissions/{sent}/off-board", {"reason": "copied"}, status=409)
    assert operator.send(f"/submissions/{sent}/on-board")["off_board"] is None
    rejudge = {"reason": "new driver", "same_version": True}
    assert "was not kept" in operator.send(f"/submissions/{sent}/rejudge", rejudge, status=409)["detail"]
    rejudge["same_version"] = False
    assert operator.send(f"/submissions/{sent}/rejudge", rejudge)["state"] == "queued"
    assert operator.send(f"/submissions/{sent}/cancel")["state"] == "cancelled"
    operator.send(f"/submissions/{sent}/cancel", status=409)
    operator.send("/submissions/nothing/cancel", status=404)
    other = submit(site, "bob")
    found = operator.get("/submissions?limit=1")
    assert [one["id"] for one in found["submissions"]] == [other]
    assert found["next"].endswith(f"before={other}")
    assert [one["id"] for one in operator.get("/submissions?user=ADA")["submissions"]] == [sent]
    assert operator.get("/submissions?user=nobody")["submissions"] == []


def test_what_another_version_judged(site: Site, operator: Operator) -> None:
    ids = [submit(site), submit(site)]
    for public_id in ids:
        site.work(device=H200, cases=accepted("n-1"), measurement=timed())
        with site.database() as session:
            session.merge(site.submission(public_id)).pack_digest = "0" * 64
    reason = {"reason": "a bound was wrong"}
    assert operator.send("/challenges/vector-add/rejudge", reason) == {"judged_again": 2, "more": False}
    assert operator.send("/challenges/vector-add/rejudge", reason) == {"judged_again": 0, "more": False}
    operator.send("/challenges/nothing/rejudge", reason, status=404)
    for _ in ids:
        site.work(device=H200, cases=accepted("n-1"), measurement=timed())
    before = reason | {"judged_before": site.services.clock().isoformat(), "version": "9.9.9"}
    assert operator.send("/challenges/vector-add/rejudge", before)["judged_again"] == 0
    before["version"] = site.services.all_packs["vector-add"].version
    assert operator.send("/challenges/vector-add/rejudge", before) == {"judged_again": 2, "more": False}
    assert operator.send("/challenges/vector-add/rejudge", before) == {"judged_again": 0, "more": False}
    served = {one["slug"]: one for one in operator.get("/challenges")["challenges"]}
    assert served["vector-add"]["digest"] == site.services.all_packs["vector-add"].digest
    assert {one["verified"] for one in served.values()} <= {"full", "quick", "outdated"}


def test_devices(site: Site, operator: Operator) -> None:
    measured = Calibration("a", H200.name, "550.1", "2026-01-01T00:00:00+00:00", 4e12, 3e12, {"fp32": 6e13})
    with site.database() as session:
        record_board(session, H200, "a", problem="Xid 79", calibration=measured, now=site.services.clock())
    (device,) = (one for one in operator.get("/devices")["devices"] if one["key"] == H200.key)
    assert (device["running"], device["waiting"]) == (0, 0)
    assert [(one["board"], one["problem"]) for one in device["boards"]] == [("a", "Xid 79")]
    (found,) = operator.get(f"/devices/{H200.key}/calibrations")["calibrations"]
    assert (found["read_bytes_per_s"], found["rates"]) == (4e12, {"fp32": 6e13})
    assert operator.send(f"/devices/{H200.key}/hold", {"reason": "hot"})["held"] == "hot"
    assert {one["key"]: one["held"] for one in operator.get("/devices")["devices"]}[H200.key] == "hot"
    operator.send(f"/devices/{H200.key}/hold", {"reason": "hot"}, status=409)
    assert operator.send(f"/devices/{H200.key}/release")["held"] is None
    operator.send("/devices/toaster/release", status=404)


def test_notices_and_settings(site: Site, operator: Operator) -> None:
    posted = operator.send("/notices", {"text": "No GPUs tonight", "ends_at": "2999-01-01T12:00:00+01:00"}, status=201)
    assert posted["ends_at"].startswith("2999-01-01T11:00:00")
    assert "No GPUs tonight" in site.app.test_client().get("/").text
    assert operator.get("/notices")["notices"] == [posted]
    operator.send(f"/notices/{posted['id']}/end")
    operator.send(f"/notices/{posted['id']}/end", status=404)
    refused = operator.send("/notices", {"text": "Gone", "ends_at": "2001-01-01T00:00:00Z"}, status=422)
    assert refused["fields"].keys() == {"ends_at"}
    for moment in ("soon", "2999-01-01T00:00:00", "0001-01-01T00:00:00+23:00"):
        operator.send("/notices", {"text": "x", "starts_at": moment}, status=422)
    put = operator.send("/settings/sign_up", {"value": "closed"}, method="PUT")
    assert put == {"name": "sign_up", "value": "closed"}
    assert operator.send("/settings/max_waiting", {"value": 7}, method="PUT")["value"] == 7
    rows = {row["name"]: row for row in operator.get("/settings")["settings"]}
    assert (rows["sign_up"]["value"], rows["sign_up"]["environment"], rows["sign_up"]["changed"]) == (
        "closed",
        "open",
        True,
    )
    assert operator.send("/settings/sign_up", method="DELETE") == {"name": "sign_up", "value": "open"}
    refused = operator.send("/settings/sign_up", {"value": "shut"}, method="PUT", status=422)
    assert "'open', 'invitation' or 'closed'" in refused["fields"]["value"]
    operator.send("/settings/secret_key", {"value": "x"}, method="PUT", status=404)


def test_accounts_are_merged_after_their_names_are_repeated(site: Site, operator: Operator) -> None:
    for name in ("ada", "lovelace"):
        site.visitor(name)
    assert operator.send("/users/lovelace/merge", {"into": "ada", "sure": "ada"}, status=422)["code"] == "invalid"
    operator.send("/users/lovelace/merge", {"into": "nobody", "sure": "lovelace"}, status=404)
    refused = operator.send("/users/root-of-all/merge", {"into": "ada", "sure": "root-of-all"}, status=409)
    assert refused["code"] == "not_possible"
    merged = operator.send("/users/lovelace/merge", {"into": "ada", "sure": "Lovelace"})
    assert (merged["username"], merged["submissions"]) == ("ada", 0)
    assert [user["username"] for user in operator.get("/users?q=lovelace")["users"]] == []
