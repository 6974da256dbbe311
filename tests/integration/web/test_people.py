"""The ranking and users' public pages, as pages and as JSON."""

from __future__ import annotations

import dataclasses

from judge.measurements import Measurement
from store.people.accounts import find_user
from store.people.personal_data import close_account
from tests.web_site import H200, KERNEL, Site, accepted, post, timed, trusted

CHALLENGE = "/challenges/vector-add"
API = "/api/v1/ranking"


def _enter(site: Site, username: str, measurement: Measurement, challenge: str = "vector-add") -> None:
    page = f"/challenges/{challenge}"
    data = {"source": KERNEL, "device": H200.key, "mode": "submit"}
    post(site.visitor(username), f"{page}/submissions", data, page=page)
    site.work(device=H200, cases=accepted("n-1"), measurement=measurement)


def test_a_better_result_counts_at_once(site: Site) -> None:
    site.add_device(H200)
    visitor = site.app.test_client()
    assert "Nobody has points yet" in visitor.get("/ranking").text
    _enter(site, "ada", timed(1e-4))
    _enter(site, "bob", timed(2e-4))
    rows = visitor.get(API).get_json()["entries"]
    assert [(row["rank"], row["username"], row["points"], row["first"]) for row in rows] == [
        (1, "ada", 100.0, 1),
        (2, "bob", 50.0, 0),
    ]
    _enter(site, "bob", timed(0.5e-4))
    rows = visitor.get(API).get_json()["entries"]
    assert [(row["rank"], row["username"], row["points"]) for row in rows] == [(1, "bob", 100.0), (2, "ada", 50.0)]


def test_points_come_from_the_roofline_where_it_is_known(site: Site) -> None:
    site.add_device(H200)
    _enter(site, "ada", dataclasses.replace(trusted(), roofline_share=0.72))
    assert site.app.test_client().get(API).get_json()["entries"][0]["points"] == 72.0
    assert "Your place: 1 of 1" in site.visitor("ada").get("/ranking").text
    assert "72.0" in site.visitor("ada").get("/users/ada").text


def test_a_profile_says_what_was_solved(site: Site) -> None:
    site.add_device(H200)
    _enter(site, "ada", timed(1e-4))
    _enter(site, "ada", timed(2e-4), challenge="softmax")
    _enter(site, "bob", timed(1e-4), challenge="softmax")
    visitor = site.app.test_client()
    found = visitor.get("/api/v1/users/ADA").get_json()
    assert (found["username"], found["rank"], found["points"]) == ("ada", 1, 150.0)
    assert sum(each["solved"] for each in found["solved"]) == 2
    assert sum(each["solved"] for each in found["tracks"]) >= 1
    assert found["devices"] == {H200.key: 2}
    assert [(place["challenge"], place["rank"], place["users"]) for place in found["places"]] == [
        ("vector-add", 1, 1),
        ("softmax", 2, 2),
    ]
    page = visitor.get("/users/ada").text
    assert "2 submissions on 1 day" in page
    assert "Your account" not in page
    assert "Your account" in site.visitor("ada").get("/users/ada").text


def test_names_on_boards_lead_to_their_pages(site: Site) -> None:
    site.add_device(H200)
    _enter(site, "ada", timed(1e-4))
    link = '<a href="/users/ada">ada</a>'
    for path in ("/leaderboards/vector-add", "/ranking"):
        assert link in site.app.test_client().get(path).text


def test_a_closed_account_has_no_page_and_no_rank(site: Site) -> None:
    site.add_device(H200)
    _enter(site, "ada", timed(1e-4))
    with site.database() as session:
        user = find_user(session, "ada")
        assert user is not None
        close_account(session, user=user, now=site.services.clock())
        name = user.username
    visitor = site.app.test_client()
    assert visitor.get(API).get_json()["entries"] == []
    board = visitor.get("/leaderboards/vector-add").text
    assert name in board
    assert f"/users/{name}" not in board
    for path in (f"/users/{name}", "/users/ada", f"/api/v1/users/{name}"):
        assert visitor.get(path).status_code == 404


def test_one_device_s_ranking_leaves_the_others_out(site: Site) -> None:
    site.add_device(H200)
    _enter(site, "ada", timed(1e-4))
    visitor = site.app.test_client()
    assert visitor.get(f"{API}?device={H200.key}").get_json()["boards"] == 1
    assert visitor.get(f"{API}?device=other").get_json()["entries"] == []
    assert visitor.get(f"/ranking?device={H200.key}").status_code == 200
    assert visitor.get("/ranking?device=other").status_code == 404


def test_pages_beyond_the_last_say_so(site: Site) -> None:
    site.add_device(H200)
    _enter(site, "ada", timed(1e-4))
    visitor = site.app.test_client()
    assert "End of the list" in visitor.get("/ranking?page=7").text
    found = visitor.get(f"{API}?page=7").get_json()
    assert (found["users"], found["pages"], found["next"], found["entries"]) == (1, 1, None, [])
    for page in ("7", "0", "-1", "x", "99999999"):
        assert "vector-add" in visitor.get(f"/users/ada?page={page}").text
