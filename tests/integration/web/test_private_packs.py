"""Packs of a class or a contest: uploaded in the browser, and seen by its members alone, at any route."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from judge.packs.collection.archive import pack_contents
from judge.packs.collection.loader import load_pack
from judge.packs.collection.uploads import UPLOAD_BYTES
from store.models import Class, Contest, PrivatePack
from store.settings import builtin_packs
from store.teaching import classes, contests, private_packs
from store.teaching.private_packs import VerifiedPack, claim_upload, finish_upload
from tests.integration.web.test_freeze import KINDS
from tests.integration.web.test_visibility import HOUR, NOON, Hidden
from tests.unit.judge.packs.collection.test_uploads import inside, zipped
from tests.web_site import H200, make_site, post
from web.rate_limits import limiter

TITLE = "Zeppelin sums"
FINDING = {"severity": "warning", "where": "challenge.toml", "message": "its cases are small"}


@pytest.fixture
def hidden(tmp_path: Path) -> Iterator[Hidden]:
    now = [NOON]
    site = make_site(tmp_path / "site", clock=lambda: now[0])
    site.add_device(H200)
    yield Hidden(site, lambda moment: now.__setitem__(0, moment))
    limiter.reset()


def pack_files(title: str = TITLE) -> dict[str, bytes]:
    home = builtin_packs() / "vector-add"
    files = {name: (home / name).read_bytes() for name in ("challenge.toml", "reference.py", "statement.md")}
    return files | {"challenge.toml": files["challenge.toml"].replace(b"Vector addition", title.encode())}


def upload(client: FlaskClient, page: str, data: bytes, name: str = "sums.zip") -> Any:
    return post(client, page, {"file": (io.BytesIO(data), name)}, content_type="multipart/form-data")


def verify(hidden: Hidden, folder: Path, *, accepted: bool = True) -> None:
    """Ends the verification of the upload that waits longest, as a worker does."""
    with hidden.site.database() as session:
        lease = claim_upload(session, now=NOON, lease_s=60)
        assert lease is not None
        home = folder / lease.slug
        private_packs_files(lease.archive, home)
        pack = load_pack(home)
        contents = pack_contents(pack)
        assert contents is not None
        served = VerifiedPack(pack.title, pack.version, pack.digest, contents) if accepted else None
        assert finish_upload(session, lease, [FINDING], served, now=NOON)


def private_packs_files(archive: bytes, home: Path) -> None:
    from judge.packs.collection.uploads import read_upload

    read_upload(archive, "upload.zip").write(home)


def make_class(hidden: Hidden) -> str:
    with hidden.site.database() as session:
        group = Class(title="Spring", description="", code="c", owner_id=hidden.ids["carl"], created_at=NOON)
        session.add(group)
        session.flush()
        classes.join(session, group, user_id=hidden.ids["bob"], known_as="Bob", now=NOON)
        return f"/classes/{group.id}/challenges"


def make_contest(hidden: Hidden, *, hides: bool) -> str:
    with hidden.site.database() as session:
        contest = Contest(
            slug="friday",
            title="Friday",
            description="",
            starts_at=NOON + HOUR,
            ends_at=NOON + 3 * HOUR,
            scoring="places",
            devices=H200.key,
            owner_id=hidden.ids["carl"],
            hides_challenges=hides,
            created_at=NOON,
        )
        contests.set_challenges(contest, ["relu"])
        session.add(contest)
        session.flush()
        contests.join(session, contest, user_id=hidden.ids["bob"], now=NOON)
    return "/contests/friday/challenges"


@pytest.mark.parametrize("owner", ["class", "contest"])
def test_only_members_see_it_at_any_route(hidden: Hidden, tmp_path: Path, owner: str) -> None:
    page = make_class(hidden) if owner == "class" else make_contest(hidden, hides=False)
    carl = hidden.clients["carl"]
    assert upload(carl, page, zipped(inside("sums", pack_files()))).status_code == 303
    assert "waits to be verified" in carl.get(page).text
    slug = f"{owner}-1-sums"
    assert carl.get(f"/challenges/{slug}").status_code == 404
    verify(hidden, tmp_path)
    text = carl.get(page).text
    assert "accepted" in text
    assert FINDING["message"] in text
    if owner == "contest":
        with hidden.site.database() as session:
            contest = contests.find_contest(session, "friday")
            assert contest is not None
            contests.set_challenges(contest, [slug])

    def answers(name: str) -> dict[str, str]:
        asked = [rule for rule in KINDS if "<int" not in rule and not rule.startswith(("/help", "/account", "/lti"))]
        paths = {rule: hidden.path(rule) for rule in asked}
        paths = {
            rule: path.replace("vector-add", slug).replace("Vector addition", TITLE) for rule, path in paths.items()
        }
        return {rule: hidden.ask(name, path) for rule, path in paths.items()}

    for name in ("nobody", "tom"):
        found = answers(name)
        leaks = [rule for rule, text in found.items() if TITLE in text and rule != "/search"]
        leaks += [rule for rule, text in found.items() if "/challenges/<slug>" in rule and text[0] == "2"]
        assert leaks == [], name
    for name in ("bob", "carl"):
        found = answers(name)
        shows = {rule for rule, text in found.items() if TITLE in text}
        wanted = {"/", "/challenges/<slug>", "/leaderboards/", "/leaderboards/<slug>", "/api/v1/challenges"}
        wanted |= {"/api/v1/challenges/<slug>", "/challenges/<slug>/solutions"}
        assert wanted <= shows, name
        assert found["/search"].startswith("302"), name
        # What everybody sees alike has nothing of it.
        assert not shows & {"/challenges.atom", "/sitemap.xml", "/ranking", "/users/<username>"}
        picture = hidden.clients[name].get(f"/challenges/{slug}/picture.png")
        assert picture.headers["Cache-Control"] == "private, no-store"
    sent = {"challenge": slug, "device": H200.key, "mode": "submit", "source": "x"}
    for name, status in (("bob", 201), ("eve", 404)):
        headers = {"Authorization": f"Bearer {hidden.tokens[name]}"}
        answer = hidden.site.app.test_client().post("/api/v1/submissions", json=sent, headers=headers)
        assert answer.status_code == status


def test_a_contest_hides_its_own_challenges_until_the_start(hidden: Hidden, tmp_path: Path) -> None:
    page = make_contest(hidden, hides=True)
    assert upload(hidden.clients["carl"], page, zipped(inside("sums", pack_files()))).status_code == 303
    verify(hidden, tmp_path)
    with hidden.site.database() as session:
        contest = contests.find_contest(session, "friday")
        assert contest is not None
        contests.set_challenges(contest, ["contest-1-sums"])
    address = "/challenges/contest-1-sums"
    assert [hidden.clients[name].get(address).status_code for name in ("bob", "eve", "carl")] == [404, 404, 200]
    hidden.set_clock(NOON + HOUR)
    assert [hidden.clients[name].get(address).status_code for name in ("bob", "eve", "carl")] == [200, 404, 200]


def test_a_refused_upload_changes_nothing_that_is_served(hidden: Hidden, tmp_path: Path) -> None:
    page, carl = make_class(hidden), hidden.clients["carl"]
    upload(carl, page, zipped(inside("sums", pack_files())))
    verify(hidden, tmp_path / "1")
    upload(carl, page, zipped(inside("sums", pack_files("Another title"))))
    bob = hidden.clients["bob"]
    assert TITLE in bob.get("/challenges/class-1-sums").text
    verify(hidden, tmp_path / "2", accepted=False)
    assert "what was accepted before stays" in carl.get(page).text
    assert TITLE in bob.get("/challenges/class-1-sums").text
    upload(carl, page, zipped(inside("sums", pack_files("Another title"))))
    verify(hidden, tmp_path / "3")
    assert "Another title" in bob.get("/challenges/class-1-sums").text


def test_mistakes_are_told_at_the_field_and_change_nothing(hidden: Hidden, monkeypatch: pytest.MonkeyPatch) -> None:
    page, carl = make_class(hidden), hidden.clients["carl"]
    for data, name, message in (
        (b"text", "sums.zip", "not a whole zip"),
        (zipped(inside("sums", pack_files()), link="sums/data.npy"), "sums.zip", "is a link"),
        (zipped(inside("sums", pack_files()) | {"../x.py": b""}), "sums.zip", "no path inside"),
    ):
        answer = upload(carl, page, data, name)
        assert (answer.status_code, message in answer.text) == (422, True)
    assert "Choose a file." in post(carl, page, {}).text
    monkeypatch.setattr(private_packs, "MOST_PACKS", 1)
    assert upload(carl, page, zipped(inside("sums", pack_files()))).status_code == 303
    assert "the most there may be" in upload(carl, page, zipped(inside("more", pack_files()))).text
    assert upload(carl, page, zipped(inside("sums", pack_files()))).status_code == 303  # the same one again
    with hidden.site.database() as session:
        assert [pack.slug for pack in session.query(PrivatePack)] == ["class-1-sums"]


def test_two_gigabytes_are_refused_before_anybody_reads_them(hidden: Hidden) -> None:
    page = make_class(hidden)

    class Endless(io.RawIOBase):
        def readinto(self, _buffer: object) -> int:
            raise AssertionError("read")

    environment = {"CONTENT_LENGTH": str(2 << 30), "wsgi.input": Endless()}
    answer = hidden.clients["carl"].post(
        page, environ_overrides=environment, content_type="multipart/form-data; boundary=x"
    )
    assert answer.status_code == 413
    assert f"an archive may have {UPLOAD_BYTES >> 20} MiB" in answer.text


def test_deleting(hidden: Hidden, tmp_path: Path) -> None:
    page, carl, bob = make_class(hidden), hidden.clients["carl"], hidden.clients["bob"]
    upload(carl, page, zipped(inside("sums", pack_files())))
    verify(hidden, tmp_path)
    address = "/challenges/class-1-sums"
    data = {"source": "// of bob", "device": H200.key, "mode": "submit"}
    sent = post(bob, f"{address}/submissions", data, page=address)
    assignment = {
        "title": "A", "challenges": "class-1-sums", "opens_at": "2026-03-02T12:00", "due_at": "2026-03-03T12:00",
        "counts": "accepted", "points": "1", "weight": "1", "accepted_percent": "0", "late_percent": "0",
        "taken": "best", "device": "",
    }  # fmt: skip
    assert post(carl, "/classes/1/assignments/new", assignment).status_code == 303
    delete = f"{page}/class-1-sums/delete"
    assert post(carl, delete, {}, page=page).status_code == 422
    assert post(carl, delete, {"sure": "y"}, page=page).status_code == 409
    post(carl, "/classes/1/assignments/1/edit", assignment | {"challenges": "relu"})
    assert post(carl, delete, {"sure": "y"}, page=page).status_code == 303
    assert bob.get(address).status_code == 404
    assert hidden.site.submission(str(sent.location).rsplit("/", 1)[1]).state == "cancelled"
    assert bob.get(str(sent.location)).status_code == 200


def test_a_class_gets_nothing_of_one_that_had_its_number(hidden: Hidden, tmp_path: Path) -> None:
    page, carl, address = make_class(hidden), hidden.clients["carl"], "/challenges/class-1-sums"
    upload(carl, page, zipped(inside("sums", pack_files())))
    verify(hidden, tmp_path)
    data = {"source": "// of bob", "device": H200.key, "mode": "submit"}
    post(hidden.clients["bob"], f"{address}/submissions", data, page=address)
    with hidden.site.database() as session:
        session.delete(session.get_one(Class, 1))
        session.flush()
        owner = hidden.ids["tom"]
        later = NOON + HOUR
        session.add(Class(id=1, title="New", description="", code="d", owner_id=owner, created_at=later))
    tom = hidden.clients["tom"]
    answer = upload(tom, page, zipped(inside("sums", pack_files())))
    assert answer.status_code == 422
    assert "Give the folder another name" in answer.text
    assert upload(tom, page, zipped(inside("other", pack_files()))).status_code == 303


def test_another_class_cannot_name_it(hidden: Hidden, tmp_path: Path) -> None:
    page, carl = make_class(hidden), hidden.clients["carl"]
    upload(carl, page, zipped(inside("sums", pack_files())))
    verify(hidden, tmp_path)
    post(carl, "/classes/new", {"title": "Other", "description": ""})
    form = {"title": "A", "challenges": "class-1-sums", "opens_at": "2026-03-02T12:00", "due_at": "2026-03-03T12:00"}
    assert "There is no challenge class-1-sums." in post(carl, "/classes/2/assignments/new", form).text
    make_contest(hidden, hides=False)
    answer = post(carl, "/contests/friday/edit", {"challenges": "class-1-sums"})
    assert "There is no challenge class-1-sums." in answer.text
    assert json.loads(carl.get("/contests/friday/standings.json").text)["contest"] == "friday"
