"""The operators' pages: what each form does, what the log keeps, and that reasons are asked for."""

from __future__ import annotations

import re

import pytest
from flask import url_for
from flask.testing import FlaskClient

from judge.gpu.calibration import Calibration
from store.devices import record_board
from store.models import Role
from store.people.accounts import find_user
from tests.web_site import H200, KERNEL, PASSWORD, Site, accepted, post, timed
from web.admin import submissions

BOARD = f"/leaderboards/vector-add?device={H200.key}"

#: What undoes what a form of the operators' pages does.
UNDONE_BY = {
    "admin.change_role": "admin.change_role",
    "admin.suspend": "admin.restore",
    "admin.restore": "admin.suspend",
    "admin.hold": "admin.release",
    "admin.release": "admin.hold",
    "admin.off_board": "admin.on_board",
    "admin.on_board": "admin.off_board",
    "admin.post": "admin.end",
    "admin.end": "admin.post",
    "admin.change": "admin.reset",
    "admin.reset": "admin.change",
    "admin.platforms": "admin.remove",
    "admin.platform": "admin.platform",
}
#: What nothing undoes: where its form is, and within which element the page says so.
FINAL = {
    "admin.cancel": ("/admin/", "section"),
    "admin.rejudge_one": ("/submissions/{judged}", "section"),
    "admin.rejudge_challenge": ("/admin/challenges", "section"),
    "admin.merge": ("/admin/users", "details"),
    "admin.reset_link": ("/admin/users", "form"),
    "admin.remove": ("/admin/platforms", "form"),
}
PLATFORM = {
    "title": "A school's platform",
    "issuer": "https://school.example",
    "client_id": "1",
    "deployments": "1",
    "key_set_url": "https://school.example/keys",
    "auth_login_url": "https://school.example/login",
    "auth_token_url": "https://school.example/token",
}


@pytest.fixture
def root(site: Site) -> FlaskClient:
    """An operator's browser."""
    site.add_device(H200)
    client = site.visitor("root-of-all")
    with site.database() as session:
        user = find_user(session, "root-of-all")
        assert user is not None
        user.role = Role.OPERATOR
    return client


def send(site: Site, client: FlaskClient, *, judged: bool = True) -> str:
    data = {"source": KERNEL, "device": H200.key, "mode": "submit"}
    answer = post(client, "/challenges/vector-add/submissions", data, page="/challenges/vector-add")
    if judged:
        site.work(device=H200, cases=accepted("n-1"), measurement=timed())
    return str(answer.location).rsplit("/", 1)[1]


def act(client: FlaskClient, path: str, **data: str) -> str:
    """Sends a form of the operators' pages; returns the page that follows."""
    answer = post(client, path, data, page="/admin/users")
    assert answer.status_code == 303, answer.text
    return client.get(answer.location).text


def test_there_is_nothing_for_others(site: Site, root: FlaskClient) -> None:
    assert "Admin</a>" in root.get("/").text
    ada = site.visitor("ada")
    assert "Admin</a>" not in ada.get("/").text
    assert ada.get("/admin/nothing").status_code == ada.get("/admin/").status_code == 404


def test_users_are_found_suspended_and_restored(site: Site, root: FlaskClient) -> None:
    ada = site.visitor("ada")
    assert "ada" in root.get("/admin/users?q=AD").text
    assert "No name or address contains that" in root.get("/admin/users?q=zz").text
    answer = post(root, "/admin/users/ada/suspend", {"reason": " "}, page="/admin/users")
    assert (answer.status_code, "Give a reason" in answer.text) == (422, True)
    text = act(root, "/admin/users/ada/suspend", reason="<i>spam</i>")
    assert "ada is suspended." in text
    assert "&lt;i&gt;spam" in text
    assert ada.get("/account/").status_code == 302
    assert post(ada, "/account/log-in", {"username": "ada", "password": PASSWORD}).status_code == 422
    assert "may log in again" in act(root, "/admin/users/ada/restore")
    assert post(ada, "/account/log-in", {"username": "ada", "password": PASSWORD}).status_code == 302
    assert "only operator" in act(root, "/admin/users/root-of-all/role", role="user")
    assert "role teacher now" in act(root, "/admin/users/ada/role", role="teacher")
    log = root.get("/admin/log?target=user+ada").text
    assert re.findall(r"<td>(role|restore|suspend)</td>", log) == ["role", "restore", "suspend"]
    assert post(root, "/admin/users/nobody/restore", {}, page="/admin/users").status_code == 404


def test_a_link_resets_a_password_and_is_shown_once(site: Site, root: FlaskClient) -> None:
    site.add_user("ada")
    text = act(root, "/admin/users/ada/reset-link", second_factor="1")
    (path,) = re.findall(r"https?://[^/<]+(/account/reset/[\w-]+)", text)
    assert "/account/reset/" not in root.get("/admin/users?q=ada").text
    form = {"new": "another long one", "again": "another long one"}
    assert post(site.app.test_client(), path, form).status_code == 302


def test_the_queue_shows_what_waits_and_cancels_it(site: Site, root: FlaskClient) -> None:
    ada = site.visitor("ada")
    waiting = send(site, ada, judged=False)
    text = root.get("/admin/").text
    assert waiting in text
    assert "nvidia-h200" in text
    assert "0 run, 1 waits" in root.get("/admin/devices").text
    assert "It is cancelled" in act(root, f"/admin/submissions/{waiting}/cancel")
    assert "has ended already" in act(root, f"/admin/submissions/{waiting}/cancel").replace("It has", "has")
    assert "Nothing waits" in root.get("/admin/").text


def test_a_device_is_held_and_released(site: Site, root: FlaskClient) -> None:
    assert post(root, f"/admin/devices/{H200.key}/hold", {"reason": ""}, page="/admin/users").status_code == 422
    assert "takes nothing new" in act(root, f"/admin/devices/{H200.key}/hold", reason="<b>hot</b>")
    assert "&lt;b&gt;hot" in root.get("/admin/devices").text
    assert "Nothing runs on it any more" in root.get("/admin/devices").text
    assert "NVIDIA H200 (away: will wait)" in root.get("/challenges/vector-add").text
    send(site, site.visitor("ada"), judged=False)
    with pytest.raises(AssertionError):
        site.work(device=H200, cases=accepted("n-1"))
    assert "held already" in act(root, f"/admin/devices/{H200.key}/hold", reason="again")
    assert "takes work again" in act(root, f"/admin/devices/{H200.key}/release")
    assert "(away: will wait)" not in root.get("/challenges/vector-add").text
    assert post(root, "/admin/devices/toaster/hold", {"reason": "x"}, page="/admin/users").status_code == 404


def test_a_submission_is_found_judged_again_and_taken_off_its_board(site: Site, root: FlaskClient) -> None:
    ada = site.visitor("ada")
    sent = send(site, ada)
    assert sent in root.get("/admin/submissions?user=ADA&challenge=vector-add&verdict=AC").text
    for other in ("user=nobody", "verdict=WA", "challenge=softmax"):
        assert sent not in root.get(f"/admin/submissions?{other}").text
    assert "ada" in root.get(BOARD).text
    text = act(root, f"/admin/submissions/{sent}/off-board", reason="copied")
    assert "It is off its board" in text
    assert "took it off: copied" in ada.get(f"/submissions/{sent}").text
    assert "ada" not in root.get(BOARD).text.split("<main")[1]
    act(root, f"/admin/submissions/{sent}/on-board")
    assert "ada" in root.get(BOARD).text.split("<main")[1]
    assert "judged again" in act(root, f"/admin/submissions/{sent}/rejudge", reason="new driver").lower()
    assert "not judged yet" in act(root, f"/admin/submissions/{sent}/rejudge", reason="again")
    site.work(device=H200, cases=accepted("n-1"), measurement=timed(2e-4))
    page = ada.get(f"/submissions/{sent}").text
    changed = page[page.index("Judged before, and now") :]
    now, before = re.findall(r"<tr><td>.*?</tr>", changed, re.DOTALL)[:2]
    assert ("200 µs" in now, "<td>now</td>" in now) == (True, True), now
    assert ("125 µs" in before, "new driver" in before) == (True, True), before
    assert "new driver" in page
    assert "For operators" not in page
    assert root.get("/admin/submissions/nothing/rejudge").status_code == 405


def test_everything_is_judged_again_a_part_after_the_other(
    site: Site, root: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submissions, "BATCH", 1)
    ada = site.visitor("ada")
    sent = [send(site, ada), send(site, ada)]
    page = "/admin/challenges"
    for left in reversed(sent):
        found = re.search(r'name="before" value="([^"]+)"', root.get(page).text)
        assert found is not None
        form = {"which": "all", "before": found[1], "reason": "a new driver"}
        answer = post(root, "/admin/challenges/vector-add/rejudge", form, page="/admin/users")
        assert site.submission(left).state == "queued"
        page = answer.location
        site.work(device=H200, cases=accepted("n-1"), measurement=timed())
    assert page == "/admin/"
    assert root.get("/admin/challenges?before=0001-01-01T00:00:00%2B23:59").status_code == 200


def test_what_another_version_judged_is_judged_again(site: Site, root: FlaskClient) -> None:
    ada = site.visitor("ada")
    old, _ = send(site, ada), send(site, ada)
    with site.database() as session:
        found = session.merge(site.submission(old))
        found.pack_digest = "0" * 64
    assert "Judging 1 of them again" in act(root, "/admin/challenges/vector-add/rejudge", reason="a bound was wrong")
    assert site.submission(old).state == "queued"
    site.work(device=H200, cases=accepted("n-1"), measurement=timed())
    assert post(root, "/admin/challenges/nothing/rejudge", {"reason": "x"}, page="/admin/users").status_code == 404


def test_what_cannot_be_undone_says_so_beforehand(site: Site, root: FlaskClient) -> None:
    rules = {rule.endpoint: rule for rule in site.app.url_map.iter_rules() if "POST" in (rule.methods or ())}
    forms = {endpoint for endpoint in rules if endpoint.startswith("admin.")}
    assert forms == UNDONE_BY.keys() | FINAL.keys()
    assert set(UNDONE_BY.values()) <= forms
    ada = site.visitor("ada")
    judged, waiting = send(site, ada), send(site, ada, judged=False)
    values = {"public_id": judged, "slug": "vector-add", "username": "ada", "number": 1}
    act(root, "/admin/platforms", **PLATFORM)
    for endpoint, (page, element) in FINAL.items():
        named = values | ({"public_id": waiting} if endpoint == "admin.cancel" else {})
        with site.app.test_request_context():
            action = url_for(endpoint, **{name: named[name] for name in rules[endpoint].arguments})
        text = root.get(page.format(judged=judged)).text
        at = text.index(f'action="{action}"')
        around = text[text.rindex(f"<{element}", 0, at) : text.index(f"</{element}>", at)]
        assert "cannot be undone" in around, endpoint


def test_challenges_say_what_does_not_load(site: Site, root: FlaskClient) -> None:
    text = root.get("/admin/challenges").text
    assert site.services.all_packs["vector-add"].digest[:12] in text
    assert "Not loaded" not in text


def test_two_accounts_are_merged_after_the_name_is_repeated(site: Site, root: FlaskClient) -> None:
    ada, other = site.visitor("ada"), site.visitor("lovelace")
    assert "This cannot be undone" in root.get("/admin/users?q=lovelace").text
    assert "Nothing was done" in act(root, "/admin/users/lovelace/merge", into="ada", sure="ada")
    assert other.get("/account/").status_code == 200
    assert "is merged into ada: 0 submissions" in act(root, "/admin/users/lovelace/merge", into="ada", sure="lovelace")
    assert other.get("/account/").status_code == 302
    assert ada.get("/account/").status_code == 200
    assert "merge" in root.get("/admin/log?target=user+ada").text


def test_a_board_is_out_of_service_and_its_calibrations_are_drawn(site: Site, root: FlaskClient) -> None:
    assert "Not calibrated yet" not in root.get("/admin/devices").text
    now = site.services.clock()
    for day, read in ((1, 4.1e12), (5, 4.0e12)):
        calibration = Calibration(
            "board-of-ours", H200.name, "550.1", f"2026-01-0{day}T00:00:00+00:00", read, 3e12, {"fp32": 6e13}
        )
        with site.database() as session:
            record_board(session, H200, "board-of-ours", problem="<i>Xid 79</i>", calibration=calibration, now=now)
            record_board(session, H200, "another", problem="", calibration=None, now=now)
    text = root.get("/admin/devices").text
    assert "&lt;i&gt;Xid 79&lt;/i&gt;" in text
    assert text.count("Out of service") == 1
    assert "reading memory over 2 calibrations" in text
    assert "2026-01-05: 4,000 GB/s" in text
    table = re.findall(r"<tr><td>2026-01-0.*?</tr>", text)
    assert [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in table] == [
        ["2026-01-05 00:00", "550.1", "4,000", "3,000", "60.00"],
        ["2026-01-01 00:00", "550.1", "4,100", "3,000", "60.00"],
    ]
    assert "Not calibrated yet" in text
