"""Nobody but who may learns of a hidden challenge, at any route, until the contest that hides it starts.

Each route that answers GET is asked while the challenge is hidden, and as if the site did not have it: the answers must
be the same. ``SHOWS`` has those that show it from the start on, and before to the organizer.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from judge.tracks.loader import builtin_tracks
from store.models import Class, Contest, Role, User
from store.packs import record_packs
from store.teaching import contests
from tests.assignments import add_assignment
from tests.integration.web.test_freeze import KINDS
from tests.web_site import H200, Site, accepted, csrf_of, make_site, post, timed
from web.rate_limits import limiter
from web.services import EXTENSION

SLUG, TITLE = "vector-add", "Vector addition"
TRACK = next(track.slug for track in builtin_tracks().tracks if any(step.challenge == SLUG for step in track.steps))
#: Where everybody sees a challenge that is not hidden.
TABLE = """
/
/api/v1/challenges
/api/v1/challenges/<slug>
/api/v1/challenges/<slug>/starter
/api/v1/leaderboards/<slug>
/api/v1/ranking
/api/v1/tracks
/api/v1/tracks/<slug>
/api/v1/users/<username>
/bottlenecks/<slug>
/challenges.atom
/challenges/<slug>
/challenges/<slug>/picture.png
/challenges/<slug>/solutions
/challenges/<slug>/starter
/contests/<slug>
/contests/<slug>/screen
/contests/<slug>/standings.csv
/contests/<slug>/standings.json
/leaderboards/
/leaderboards/<slug>
/leaderboards/<slug>.atom
/ranking
/readyz
/search
/shared/<token>
/shared/<token>/kernel.cu
/sitemap.xml
/tracks/
/tracks/<slug>
/tracks/<slug>/<challenge>
/users/<username>
"""
SHOWS = frozenset(TABLE.split())
#: What everybody sees alike, whoever asks: not even the organizer sees a hidden challenge there.
FOR_ALL = {"/api/v1/ranking", "/api/v1/users/<username>", "/challenges.atom", "/ranking", "/readyz", "/sitemap.xml"}
FOR_ALL |= {"/users/<username>", "/contests/<slug>/screen"}
#: What is about the visitor alone, or about requests.
OWN = {"/account/", "/account/export", "/metrics"}
VIEWERS = ("nobody", "bob", "eve", "tom")
NOON = datetime.fromisoformat("2026-03-02T12:00:00+00:00")
HOUR = timedelta(hours=1)


class Hidden:
    """A site with a contest of carl that hides a challenge until 13:00, in which bob takes part. Carl has tried it."""

    def __init__(self, site: Site, set_clock: Callable[[datetime], None]) -> None:
        self.site, self.set_clock = site, set_clock
        self.clients = {name: site.visitor(name) for name in ("bob", "eve", "tom", "carl", "root")}
        self.clients["nobody"] = site.app.test_client()
        self.tokens = {name: site.token_of(name) for name in self.clients if name != "nobody"}
        with site.database() as session:
            record_packs(session, site.services.all_packs.values(), now=NOON)
            self.ids = {user.username: user.id for user in session.scalars(select(User))}
            for name, role in (("tom", Role.TEACHER), ("carl", Role.TEACHER), ("root", Role.OPERATOR)):
                session.get_one(User, self.ids[name]).role = role
        self.public_id = self.token = "none"

    def hide(self) -> None:
        with self.site.database() as session:
            contest = Contest(
                slug="friday",
                title="Friday",
                description="",
                starts_at=NOON + HOUR,
                ends_at=NOON + 3 * HOUR,
                scoring="targets",
                devices=H200.key,
                owner_id=self.ids["carl"],
                hides_challenges=True,
                created_at=NOON,
            )
            contests.set_challenges(contest, [SLUG], {SLUG: 1e-4})
            session.add(contest)
            session.flush()
            contests.join(session, contest, user_id=self.ids["bob"], now=NOON)

    def try_out(self) -> None:
        """Sends, publishes and shares carl's solution."""
        page = f"/challenges/{SLUG}"
        data = {"source": "// of carl", "device": H200.key, "mode": "submit"}
        answer = post(self.clients["carl"], f"{page}/submissions", data, page=page)
        self.public_id = str(answer.location).rsplit("/", 1)[1]
        self.site.work(device=H200, cases=accepted("n-1"), measurement=timed(3e-4))
        page = f"/submissions/{self.public_id}"
        for what in ("publish", "share"):
            assert post(self.clients["carl"], f"{page}/{what}", {}, page=page).status_code == 303
        self.token = self.site.submission(self.public_id).share_token or ""

    def path(self, rule: str) -> str:
        tops = {"contests": "friday", "bottlenecks": "tail", "tracks": TRACK}
        values = {
            "<slug>": tops.get(rule.removeprefix("/api/v1").split("/")[1], SLUG), "<challenge>": SLUG,
            "<public_id>": self.public_id, "<token>": self.token, "<username>": "carl",
        }  # fmt: skip
        for part, value in values.items():
            rule = rule.replace(part, value)
        path = re.sub("<[^>]*>", "1", rule)
        return f"{path}?q={TITLE}" if path == "/search" else path

    def ask(self, name: str, path: str, method: str = "GET") -> str:
        """Returns the response to somebody there, without the parts that differ between two equal requests."""
        headers = {}
        if path.startswith("/api/") and name in self.tokens:
            headers = {"Authorization": f"Bearer {self.tokens[name]}"}
        with self.clients[name].open(path, method=method, headers=headers) as answer:
            shown = answer.get_data().decode(errors="replace")
            text = f"{answer.status_code} {answer.headers.get('Location', '')} {shown}"
        return re.sub(
            r'name="(csrf_token|idempotency_key)"[^>]*>|(csrf-token|nonce)" content="[^"]*"|nonce="[^"]*"', "", text
        )

    def snapshot(self, viewers: tuple[str, ...] = VIEWERS) -> dict[tuple[str, str], str]:
        return {(rule, name): self.ask(name, self.path(rule)) for rule in sorted(KINDS) for name in viewers}

    @contextmanager
    def absent(self) -> Iterator[None]:
        """Serves everything as if the site did not have the challenge."""
        services = self.site.services
        packs = {slug: pack for slug, pack in services.all_packs.items() if slug != SLUG}
        self.site.app.extensions[EXTENSION] = dataclasses.replace(services, all_packs=packs)  # type: ignore[arg-type]
        yield
        self.site.app.extensions[EXTENSION] = services


@pytest.fixture
def hidden(tmp_path: Path) -> Iterator[Hidden]:
    now = [NOON]
    site = make_site(tmp_path, clock=lambda: now[0])
    site.add_device(H200)
    yield Hidden(site, lambda moment: now.__setitem__(0, moment))
    limiter.reset()


def mentions(text: str) -> int:
    return text.count(SLUG) + text.count(TITLE)


def summary(text: str) -> tuple[str, int]:
    return text[:3], mentions(text)


@pytest.mark.timeout(900)
def test_no_route_shows_others_a_hidden_challenge_before_the_start(hidden: Hidden) -> None:
    with hidden.absent():
        never = hidden.snapshot()
    hidden.hide()
    hidden.try_out()
    with hidden.absent():
        without = hidden.snapshot((*VIEWERS, "carl"))
    found = hidden.snapshot((*VIEWERS, "carl"))
    leaks = [each for each in found if each[1] != "carl" and each[0] not in OWN and found[each] != without[each]]
    leaks += [each for each in never if mentions(found[each]) > mentions(never[each])]
    assert leaks == []
    seen = {rule for rule in KINDS if summary(found[rule, "carl"]) != summary(found[rule, "nobody"])}
    seen |= {rule for rule in KINDS if found[rule, "carl"] != without[rule, "carl"]}
    assert SHOWS - FOR_ALL - seen == set(), "the organizer does not see it there"
    assert "hidden" in hidden.ask("carl", f"/challenges/{SLUG}")
    assert hidden.ask("root", f"/challenges/{SLUG}")[:3] == "200"
    assert found["/challenges/<slug>", "eve"][:3] == "404"

    hidden.set_clock(NOON + HOUR)
    shown = hidden.snapshot(("nobody",))
    with hidden.absent():
        without = hidden.snapshot(("nobody",))
    differ = {rule for rule in KINDS if summary(shown[rule, "nobody"]) != summary(found[rule, "nobody"])}
    differ |= {rule for rule in KINDS if shown[rule, "nobody"] != without[rule, "nobody"]}
    assert SHOWS - differ == set(), "these routes are said to show challenges, and do not"


def test_nothing_can_be_sent_to_a_hidden_challenge(hidden: Hidden) -> None:
    hidden.hide()
    rules = [
        (rule.rule, method)
        for rule in hidden.site.app.url_map.iter_rules()
        for method in (rule.methods or set()) & {"POST", "PUT", "DELETE", "PATCH"}
        if rule.rule.startswith(("/challenges/<slug>", "/api/v1/challenges/<slug>"))
    ]
    assert len(rules) > 5
    eve = hidden.clients["eve"]
    for rule, method in rules:
        path = hidden.path(rule)
        answers = []
        for slug in (SLUG, "no-such-thing"):
            address = path.replace(SLUG, slug)
            headers = {"Authorization": f"Bearer {hidden.tokens['eve']}"} if address.startswith("/api/") else {}
            headers = headers or {"X-CSRFToken": csrf_of(eve.get("/account/").text)}
            body = {"source": "x", "base": 0}
            answer = eve.open(address, method=method, headers=headers, json=body)
            answers.append((answer.status_code, "called" in answer.text))
        assert answers == [(404, True)] * 2, (rule, answers)
    headers = {"Authorization": f"Bearer {hidden.tokens['eve']}"}
    sent = {"challenge": SLUG, "device": H200.key, "mode": "submit", "source": "x"}
    assert eve.post("/api/v1/submissions", json=sent, headers=headers).status_code == 404


def form(**changed: str) -> dict[str, str]:
    return {
        "title": "Friday", "slug": "friday", "challenges": SLUG, "devices": H200.key, "scoring": "places",
        "starts_at": "2026-03-02T13:00", "ends_at": "2026-03-02T15:00", "hides_challenges": "y", **changed,
    }  # fmt: skip


def test_the_organizers_form_hides_and_shows(hidden: Hidden) -> None:
    carl, bob, page = hidden.clients["carl"], hidden.clients["bob"], f"/challenges/{SLUG}"
    assert post(carl, "/contests/new", form()).status_code == 303
    assert (carl.get(page).status_code, bob.get(page).status_code) == (200, 404)
    without = {name: value for name, value in form().items() if name != "hides_challenges"}
    assert post(carl, "/contests/friday/edit", without).status_code == 303
    assert bob.get(page).status_code == 200
    # Another organizer can neither see it nor take it into a contest or an assignment.
    assert post(carl, "/contests/friday/edit", form()).status_code == 303
    answer = post(hidden.clients["tom"], "/contests/new", form(slug="other"))
    assert (answer.status_code, "There is no challenge vector-add." in answer.text) == (422, True)


def test_what_users_know_cannot_be_hidden(hidden: Hidden) -> None:
    carl, tom, page = hidden.clients["carl"], hidden.clients["tom"], f"/challenges/{SLUG}"
    data = {"source": "// of bob", "device": H200.key, "mode": "submit"}
    assert post(hidden.clients["bob"], f"{page}/submissions", data, page=page).status_code == 303
    answer = post(carl, "/contests/new", form())
    assert (answer.status_code, "users have sent kernels for it" in answer.text) == (422, True)
    with hidden.site.database() as session:
        group = Class(title="C", description="", code="c", owner_id=hidden.ids["tom"], created_at=NOON)
        session.add(group)
        session.flush()
        add_assignment(session, group.id, ["softmax"], now=NOON, title="A", due_at=NOON + HOUR)
    assert "an assignment of a class names it" in post(carl, "/contests/new", form(challenges="softmax")).text
    started = form(slug="earlier", challenges="relu", starts_at="2026-03-02T11:00")
    assert post(tom, "/contests/new", started).status_code == 303
    assert "another contest with it has started" in post(carl, "/contests/new", form(challenges="relu")).text


def test_a_challenge_that_a_started_contest_has_is_hidden_no_more(hidden: Hidden) -> None:
    carl, page = hidden.clients["carl"], f"/challenges/{SLUG}"
    assert post(carl, "/contests/new", form()).status_code == 303
    early = form(slug="early", starts_at="2026-03-02T12:30")
    assert post(carl, "/contests/new", early).status_code == 303
    assert hidden.clients["eve"].get(page).status_code == 404
    hidden.set_clock(NOON + timedelta(minutes=30))
    assert hidden.clients["eve"].get(page).status_code == 200


def test_an_assignment_cannot_name_what_its_members_do_not_see(hidden: Hidden) -> None:
    carl = hidden.clients["carl"]
    hidden.hide()
    post(carl, "/classes/new", {"title": "Mine", "description": ""})
    assignment = {
        "title": "A", "challenges": SLUG, "opens_at": "2026-03-02T12:00", "due_at": "2026-03-03T12:00",
        "counts": "accepted", "points": "1", "weight": "1", "accepted_percent": "0", "late_percent": "0",
        "taken": "best", "device": "",
    }  # fmt: skip
    answer = post(carl, "/classes/1/assignments/new", assignment)
    assert (answer.status_code, "There is no challenge vector-add." in answer.text) == (422, True)


def test_an_organizers_projector_shows_nothing_before_the_start(hidden: Hidden) -> None:
    hidden.hide()
    hidden.try_out()
    with hidden.site.database() as session:
        contest = contests.find_contest(session, "friday")
        assert contest is not None
        contests.set_challenges(contest, [SLUG, "relu"], {SLUG: 1e-4, "relu": 1e-4})
    screen = "/contests/friday/screen"
    before = [hidden.ask(name, screen) for name in ("carl", "root", "nobody")]
    assert [(text[:3], mentions(text)) for text in before] == [("200", 0)] * 3
    assert mentions(hidden.ask("carl", "/contests/friday")) > 0
    hidden.set_clock(NOON + HOUR)
    assert mentions(hidden.ask("carl", screen)) > 0


def test_standings_have_the_challenges_that_a_visitor_sees(hidden: Hidden) -> None:
    hidden.hide()
    with hidden.site.database() as session:
        contest = contests.find_contest(session, "friday")
        assert contest is not None
        contests.set_challenges(contest, [SLUG, "relu"], {SLUG: 1e-4, "relu": 1e-4})
    for name, slugs in (("carl", {SLUG, "relu"}), ("bob", set()), ("nobody", set())):
        answer = hidden.clients[name].get("/contests/friday/standings.json")
        assert answer.status_code == 200, name
        assert answer.json is not None
        assert [row["tries"].keys() for row in answer.json["standings"]] == [slugs], name
