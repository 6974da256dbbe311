"""Comments at lines of submissions: who writes, reads and changes them, and the notice of them."""

from __future__ import annotations

import io
import json
import re
import zipfile
from typing import Any

import pytest
from flask.testing import FlaskClient

from store.models import LineComment, Role, User
from store.people.accounts import find_user
from store.people.personal_data import close_account
from store.teaching.comments import MAX_CHARACTERS, MOST
from tests.integration.web.test_api_teaching import ROSTER
from tests.integration.web.test_classes import PAGE, assign, code, join, send
from tests.integration.web.timed_site import Clock, promoted
from tests.web_site import Site, post

SOURCE = "// one\n// two\n// three"


@pytest.fixture
def site(timed_site: Site) -> Site:
    return timed_site


class Room:
    """A class of euler's in which ada has submitted; bob is in it, too, and eve is not."""

    def __init__(self, site: Site, clock: Clock) -> None:
        self.site, self.clock = site, clock
        self.euler = promoted(site, "euler", Role.TEACHER)
        post(self.euler, "/classes/new", {"title": "CUDA"})
        assign(self.euler, clock)
        self.ada, self.bob, self.eve = (site.visitor(name) for name in ("ada", "bob", "eve"))
        for name in ("ada", "bob"):
            join(getattr(self, name), code(self.euler), name)
        clock.now = clock.at(13)
        self.id = send(site, self.ada, clock, 13.1, "vector-add", source=SOURCE)
        self.page = f"/submissions/{self.id}"

    def write(self, client: FlaskClient, line: int, text: str) -> Any:
        return post(client, f"{self.page}/comments", {"line": str(line), "text": text}, page="/account/")

    def change(self, client: FlaskClient, path: str, text: str = "") -> Any:
        return post(client, f"{self.page}/comments/{path}", {"text": text}, page="/account/")

    def texts(self) -> list[str]:
        with self.site.database() as session:
            return [each.text for each in session.query(LineComment).order_by(LineComment.id)]


@pytest.fixture
def room(site: Site, clock: Clock) -> Room:
    return Room(site, clock)


def test_a_teacher_comments_and_the_student_is_told_and_answers(room: Room) -> None:
    assert "comment-on" in room.euler.get(room.page).text
    assert 'id="write"' in room.euler.get(f"{room.page}?line=2").text
    answer = room.write(room.euler, 2, " Why <b>two</b>?\r\nThink. ")
    assert answer.location == f"{room.page}#comment-1"
    assert room.texts() == ["Why <b>two</b>?\nThink."]
    assert f'href="{room.page}#L2">read it' in room.ada.get("/challenges/vector-add").text
    assert "read it" not in room.euler.get("/tracks/").text
    shown = room.ada.get(room.page).text
    assert "Why &lt;b&gt;two&lt;/b&gt;?\nThink." in shown
    assert '<span class="tag">new</span>' in shown
    assert "comment-on" not in shown
    again = room.ada.get(room.page).text
    assert '<span class="tag">new</span>' not in again
    assert "read it" not in again
    assert room.write(room.ada, 3, "Elsewhere").status_code == 422
    assert room.write(room.ada, 2, "Since one is not enough.").status_code == 303
    assert "read it" in room.euler.get("/tracks/").text
    assert "Since one is not enough." in room.euler.get(room.page).text
    assert "read it" not in room.euler.get("/tracks/").text


def test_nobody_else_reads_or_writes_comments(room: Room, site: Site) -> None:
    room.write(room.euler, 2, "Why two?")
    for client in (room.bob, room.eve):
        assert client.get(room.page).status_code == 404
        assert room.write(client, 2, "Hello").status_code == 404
        assert room.change(client, "1", "Hello").status_code == 404
        assert room.change(client, "1/delete").status_code == 404
    post(room.ada, f"{room.page}/share", {}, page="/account/")
    token = re.search(r"/shared/([\w-]+)", room.ada.get(room.page).text)
    assert token is not None
    assert "Why two?" not in site.app.test_client().get(f"/shared/{token[1]}").text
    root = promoted(site, "root", Role.OPERATOR)
    assert "Why two?" in root.get(room.page).text
    assert room.texts() == ["Why two?"]


def test_authors_alone_change_and_delete_their_comments(room: Room) -> None:
    room.write(room.euler, 2, "Why two?")
    room.write(room.ada, 2, "So.")
    assert room.change(room.ada, "1", "Mine now").status_code == 404
    assert room.change(room.euler, "2/delete").status_code == 404
    assert "Change the comment on line 2" in room.euler.get(f"{room.page}?edit=1").text
    assert "Change the comment" not in room.ada.get(f"{room.page}?edit=1").text
    refused = room.change(room.euler, "1", "  ")
    assert refused.status_code == 422
    assert "A comment needs a text." in refused.text
    assert room.change(room.euler, "1", "Why not three?").status_code == 303
    assert ", changed" in room.ada.get(room.page).text
    assert room.change(room.euler, "1/delete").location == f"{room.page}#L2"
    assert room.texts() == ["So."]


def test_comments_have_limits(room: Room, site: Site) -> None:
    refused = room.write(room.euler, 2, "x" * (MAX_CHARACTERS + 1))
    assert refused.status_code == 422
    assert f"at most {MAX_CHARACTERS} characters" in refused.text
    assert "x" * 100 in refused.text  # what was written is kept
    for line in (0, 4, 10**9):
        assert room.write(room.euler, line, "Where?").status_code == 422
    with site.database() as session:
        user = find_user(session, "euler")
        assert user is not None
        session.add_all(
            LineComment(submission_id=1, line=1, author_id=user.id, text="a", created_at=room.clock.now)
            for _ in range(MOST)
        )
    assert f"at most {MOST} comments" in room.write(room.euler, 2, "One more").text


def test_an_assistant_of_a_section_comments_on_its_members_alone(room: Room, site: Site) -> None:
    with site.database() as session:
        for name in ("ada", "bob"):
            user = session.query(User).filter_by(username=name).one()
            user.email = user.email_key = f"{name}@example.org"
    upload = {"file": (io.BytesIO(ROSTER.encode()), "list.csv")}
    assert post(room.euler, f"{PAGE}/roster", upload).status_code == 303
    tom = site.visitor("tom")
    for section, wanted in (("B", 404), ("A", 303)):
        given = {"username": "tom", "role": "assistant", "section": section}
        assert post(room.euler, f"{PAGE}/staff", given).status_code == 303
        assert room.write(tom, 1, f"As assistant of {section}").status_code == wanted
    assert room.texts() == ["As assistant of A"]


def test_whoever_teaches_no_longer_is_not_told(room: Room) -> None:
    room.write(room.euler, 2, "Why two?")
    room.write(room.ada, 2, "So.")
    assert "read it" in room.euler.get("/tracks/").text
    post(room.ada, f"{PAGE}/leave", {}, page=PAGE)
    assert "read it" not in room.euler.get("/tracks/").text
    assert room.euler.get(room.page).status_code == 404
    assert "Why two?" in room.ada.get(room.page).text


def test_comments_are_exported_and_deleted_with_the_account(room: Room, site: Site) -> None:
    room.write(room.euler, 2, "Why two?")
    room.write(room.ada, 2, "So.")

    def export(client: FlaskClient) -> tuple[Any, Any]:
        with client.get("/account/export") as answer:
            archive = zipfile.ZipFile(io.BytesIO(answer.data))
        return json.loads(archive.read("account.json")), json.loads(archive.read("submissions.json"))

    account, [submission] = export(room.ada)
    assert [(one["submission"], one["line"], one["text"]) for one in account["comments"]] == [(room.id, 2, "So.")]
    assert [(one["by"], one["text"]) for one in submission["comments"]] == [("euler", "Why two?"), ("ada", "So.")]
    assert [one["text"] for one in export(room.euler)[0]["comments"]] == ["Why two?"]
    with site.database() as session:
        user = find_user(session, "euler")
        assert user is not None
        close_account(session, user=user, now=room.clock.now)
    assert room.texts() == ["So."]
    with site.database() as session:
        user = find_user(session, "ada")
        assert user is not None
        close_account(session, user=user, now=room.clock.now)
    assert room.texts() == []
