"""The export of one's data, and the end of an account."""

from __future__ import annotations

import io
import json
import zipfile

from sqlalchemy import select

from judge.judgement import BuildReport
from store.boards.audits import podium
from store.boards.board_key import BoardKey
from store.models import Event, Job, Submission, User
from store.people.accounts import find_user
from tests.web_site import H200, KERNEL, PASSWORD, Site, accepted, post, timed

SECRET = "// what only I know\n" + KERNEL
BODY = {"challenge": "vector-add", "device": "emulator", "mode": "submit", "source": SECRET}


def _submit(site: Site, username: str = "ada", **changes: str) -> str:
    headers = {"Authorization": f"Bearer {site.token_of(username)}"}
    answer = site.app.test_client().post("/api/v1/submissions", json={**BODY, **changes}, headers=headers)
    return str(answer.get_json()["id"])


def test_the_export_holds_sources_results_and_the_account(site: Site) -> None:
    client = site.visitor()
    judged, waiting = _submit(site), _submit(site, source=KERNEL)
    _submit_of_eve(site)
    site.work(cases=accepted("n-1"))
    with client.get("/account/export") as answer:
        assert answer.headers["Content-Disposition"] == "attachment; filename=gpujudge-ada.zip"
        exported = io.BytesIO(answer.data)
    with zipfile.ZipFile(exported) as archive:
        account = json.loads(archive.read("account.json"))
        results = json.loads(archive.read("submissions.json"))
        sources = {name: archive.read(name).decode() for name in archive.namelist() if name.startswith("sources/")}
    assert account["username"] == "ada"
    assert len(account["tokens"]) == 2
    assert [one["id"] for one in results] == [judged, waiting]
    assert results[0]["judgement"]["verdict"] == "AC"
    assert sources == {f"sources/vector-add/{judged}.cu": SECRET, f"sources/vector-add/{waiting}.cu": KERNEL}
    assert "token_hash" not in str(account)


def _submit_of_eve(site: Site) -> None:
    site.add_user("eve")
    _submit(site, "eve")


def test_an_account_is_closed_only_by_who_means_it(site: Site) -> None:
    client = site.visitor()
    for form, said in (
        ({"confirm_name": "", "close_password": PASSWORD}, "Type your user name"),
        ({"confirm_name": "eve", "close_password": PASSWORD}, "Type ada to close"),
        ({"confirm_name": "ada", "close_password": "not it at all"}, "not your password"),
    ):
        answer = post(client, "/account/close", form, page="/account/")
        assert (answer.status_code, said in answer.text) == (422, True)
    assert client.get("/account/").status_code == 200


def test_a_closed_account_leaves_its_places_and_nothing_personal(site: Site) -> None:
    site.add_device(H200)
    client = site.visitor()
    site.add_user("eve")
    first, second = _submit(site, device=H200.key), _submit(site, "eve", device=H200.key)
    log = BuildReport(ok=True, wall_s=0.4, log="warning: // what only I know")
    site.work(device=H200, cases=accepted("n-1"), build=log, measurement=timed(1e-4))
    site.work(device=H200, cases=accepted("n-1"), measurement=timed(2e-4))
    waiting = _submit(site)
    board = BoardKey.of(site.submission(first))
    headers = {"Authorization": f"Bearer {site.token_of('ada')}"}
    form = {"confirm_name": "Ada", "close_password": PASSWORD}
    assert post(client, "/account/close", form, page="/account/").status_code == 302
    assert client.get("/account/").status_code == 302
    assert client.get("/api/v1/me", headers=headers).status_code == 401
    answer = post(site.app.test_client(), "/account/log-in", {"username": "ada", "password": PASSWORD})
    assert answer.status_code == 422
    with site.database() as session:
        assert find_user(session, "ada") is None
        closed = session.scalars(select(User).where(User.username.startswith("deleted-"))).one()
        gone = session.scalars(select(Submission).where(Submission.user_id == closed.id)).all()
        assert {one.public_id for one in gone} == {first, waiting}
        assert [one.source_bytes for one in gone] == [b"", b""]
        assert {one.public_id: one.state for one in gone} == {first: "done", waiting: "cancelled"}
        ids = [one.id for one in gone]
        assert session.scalars(select(Event).where(Event.submission_id.in_(ids))).all() == []
        assert [job.build_report for job in session.scalars(select(Job).where(Job.submission_id.in_(ids)))] == [
            None
        ] * 2
        judgement = gone[0].judgement
        assert judgement is not None
        assert judgement.build.log == ""
        # An audit has no source of the first place to time, and so leaves it alone.
        assert [entry.submission_public_id for entry in podium(session, board)] == [second]
    page = site.app.test_client().get(f"/leaderboards/vector-add?device={H200.key}").text
    assert f"deleted-{closed.id}" in page
    assert ">ada<" not in page
    # The name is free again.
    again = post(site.app.test_client(), "/account/sign-up", {"username": "ada", "password": PASSWORD})
    assert again.status_code == 302
