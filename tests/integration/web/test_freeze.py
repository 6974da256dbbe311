"""Nobody but who may learns of what is sent while a contest's standings are frozen, at any route, until the reveal.

Each route that answers GET is asked before a frozen result is sent, afterwards, and after the reveal. A route that is
not in the table fails the test: whoever adds one says there whether it shows results of others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select

from store.boards.best_results import best_query
from store.models import (
    AuditJob,
    BestResult,
    ChallengeTotals,
    Class,
    Contest,
    Measurement,
    Role,
    Submission,
    User,
    WebhookMessage,
)
from store.operation.administration import rejudge, take_off_board
from store.operation.operator_log import Actor
from store.people.accounts import find_user
from store.people.merging import merge_user
from store.teaching import classes, contests
from store.teaching.freezes import renew_frozen
from tests.assignments import add_assignment
from tests.web_site import H200, Site, accepted, make_site, post, timed, wrong
from web.rate_limits import limiter

SLUG = "vector-add"
#: The routes that answer GET. ``results``: a reveal changes what somebody sees there. ``nothing``: it shows no result
#: of anybody else. ``figures``: it counts all requests and judgements, for operators, and says neither whose nor of
#: what. ``private``: it is about the visitor alone, and says when the visitor was there last.
TABLE = """
/                                                           results
/account/                                                   private
/account/confirm/<text>                                     nothing
/account/export                                             private
/account/forgot                                             nothing
/account/log-in                                             nothing
/account/log-in/code                                        nothing
/account/reset/<text>                                       nothing
/account/second-factor                                      nothing
/account/sign-in/<key>                                      nothing
/account/sign-in/<key>/back                                 nothing
/account/sign-up                                            nothing
/account/welcome                                            nothing
/admin/                                                     nothing
/admin/challenges                                           nothing
/admin/devices                                              nothing
/admin/log                                                  nothing
/admin/submissions                                          nothing
/admin/platforms                                            nothing
/admin/platforms/<int(max=2147483647):number>               nothing
/admin/site                                                 nothing
/admin/users                                                nothing
/api/v1/admin/queue                                         nothing
/api/v1/admin/devices                                       nothing
/api/v1/admin/devices/<key>/calibrations                    nothing
/api/v1/admin/users                                         nothing
/api/v1/admin/submissions                                   nothing
/api/v1/admin/challenges                                    nothing
/api/v1/admin/notices                                       nothing
/api/v1/admin/settings                                      nothing
/api/v1/admin/log                                           nothing
/api/v1/challenges                                          nothing
/api/v1/challenges/<slug>                                   nothing
/api/v1/challenges/<slug>/starter                           nothing
/api/v1/challenges/<slug>/draft                             nothing
/api/v1/challenges/<slug>/solutions                         results
/api/v1/challenges/<slug>/solutions/<public_id>/source      results
/api/v1/classes                                             nothing
/api/v1/classes/<int(max=2147483647):number>              nothing
/api/v1/classes/<int(max=2147483647):number>/members      nothing
/api/v1/classes/<int(max=2147483647):number>/matrix       nothing
/api/v1/classes/<int(max=2147483647):number>/challenges   nothing
/api/v1/classes/<int(max=2147483647):number>/platform     nothing
/api/v1/classes/<int(max=2147483647):number>/assignments/<int(max=2147483647):assignment_id>/attempts/<username> nothing
/api/v1/classes/<int(max=2147483647):number>/assignments/<int(max=2147483647):assignment_id>/similarity nothing
/api/v1/classes/<int(max=2147483647):number>/assignments  nothing
/api/v1/classes/<int(max=2147483647):number>/assignments/<int(max=2147483647):assignment_id> nothing
/api/v1/classes/<int(max=2147483647):number>/grades       nothing
/api/v1/classes/<int(max=2147483647):number>/grades.csv   nothing
/api/v1/classes/<int(max=2147483647):number>/roster       nothing
/api/v1/contests                                            nothing
/api/v1/contests/<slug>/trial                              nothing
/api/v1/contests/<slug>/challenges                         nothing
/api/v1/contests/<slug>                                     nothing
/api/v1/contests/<slug>/standings                           results
/api/v1/contests/<slug>/submissions                         nothing
/api/v1/devices                                             nothing
/api/v1/leaderboards/<slug>                                 results
/api/v1/me                                                  nothing
/api/v1/openapi.json                                        nothing
/api/v1/ranking                                             results
/api/v1/submissions                                         nothing
/api/v1/submissions/<public_id>                             results
/api/v1/submissions/<public_id>/comments                    nothing
/api/v1/submissions/<public_id>/events                      results
/api/v1/submissions/<public_id>/source                      results
/api/v1/tracks                                              nothing
/api/v1/tracks/<slug>                                       nothing
/api/v1/tracks/<slug>/progress                              nothing
/api/v1/users/<username>                                    results
/bottlenecks/                                               nothing
/bottlenecks/<slug>                                         nothing
/challenges/<slug>                                          nothing
/challenges/<slug>/picture.png                              nothing
/challenges/<slug>/draft                                    nothing
/challenges/<slug>/drafts                                   nothing
/challenges/<slug>/drafts/<int:version>                     nothing
/challenges/<slug>/starter                                  nothing
/challenges.atom                                            nothing
/leaderboards/<slug>.atom                                   results
/challenges/<slug>/solutions                                results
/challenges/<slug>/solutions/<public_id>                    results
/challenges/<slug>/solutions/<public_id>/kernel.cu          results
/classes/                                                   nothing
/classes/join                                               nothing
/classes/new                                                nothing
/classes/<int(max=2147483647):number>                       nothing
/classes/<int(max=2147483647):number>/edit                  nothing
/classes/<int(max=2147483647):number>/grades.csv            nothing
/classes/<int(max=2147483647):number>/grades/canvas.csv     nothing
/classes/<int(max=2147483647):number>/grades/moodle.csv     nothing
/classes/<int(max=2147483647):number>/matrix                nothing
/classes/<int(max=2147483647):number>/copy                  nothing
/classes/<int(max=2147483647):number>/platform              nothing
/classes/<int(max=2147483647):number>/staff                 nothing
/classes/<int(max=2147483647):number>/challenges            nothing
/classes/<int(max=2147483647):number>/roster                nothing
/classes/<int(max=2147483647):number>/assignments/new       nothing
/classes/<int(max=2147483647):number>/assignments/<int(max=2147483647):assignment_id> nothing
/classes/<int(max=2147483647):number>/assignments/<int(max=2147483647):assignment_id>/edit nothing
/classes/<int(max=2147483647):number>/assignments/<int(max=2147483647):assignment_id>/attempts/<username> nothing
/classes/<int(max=2147483647):number>/assignments/<int(max=2147483647):assignment_id>/grades.csv nothing
/classes/<int(max=2147483647):number>/assignments/<int(max=2147483647):assignment_id>/similarity nothing
/tracks/                                                    nothing
/tracks/<slug>                                              nothing
/tracks/<slug>/<challenge>                                  nothing
/contests/                                                  nothing
/contests/new                                               nothing
/contests/<slug>                                            results
/contests/<slug>/challenges                                 nothing
/contests/<slug>/edit                                       nothing
/contests/<slug>/screen                                     results
/contests/<slug>/submissions                                nothing
/contests/<slug>/trial                                      nothing
/contests/<slug>/standings.csv                              results
/contests/<slug>/standings.json                             results
/healthz                                                    nothing
/leaderboards/                                              results
/leaderboards/<slug>                                        results
/lti/choose/<ticket>                                        nothing
/lti/connect                                                nothing
/lti/enter/<ticket>                                         nothing
/lti/jwks.json                                              nothing
/lti/login                                                  nothing
/metrics                                                    figures
/ranking                                                    results
/readyz                                                     nothing
/favicon.ico                                                nothing
/help/                                                      nothing
/help/<slug>                                                nothing
/help/api                                                   nothing
/picture.png                                                nothing
/search                                                     nothing
/challenges                                                 nothing
/problems                                                   nothing
/leaderboard                                                nothing
/login                                                      nothing
/signup                                                     nothing
/register                                                   nothing
/privacy                                                    nothing
/robots.txt                                                 nothing
/sitemap.xml                                                nothing
/static/<path:filename>                                     nothing
/static/v<string(length=12):version>/<path:filename>        nothing
/submissions                                                nothing
/submissions/<public_id>                                    results
/submissions/<public_id>/assembly                           nothing
/submissions/<public_id>/compare                            nothing
/submissions/<public_id>/events                             results
/submissions/<public_id>/kernel.cu                          results
/submissions/<public_id>/profile                            nothing
/submissions/<public_id>/profile.ncu-rep                    nothing
/submissions/<public_id>/recheck                            results
/submissions/<public_id>/report                             results
/shared/<token>                                             results
/shared/<token>/kernel.cu                                   results
/users/<username>                                           results
"""
KINDS = dict(line.rsplit(maxsplit=1) for line in TABLE.strip().splitlines())
#: Whose answers are looked at: bob takes part in contest and class, eve in neither, and tom teaches another class.
VIEWERS = ("nobody", "bob", "eve", "tom")
NOON = datetime.fromisoformat("2026-03-02T12:00:00+00:00")
HOOK = "https://chat.example.org/hook"


class Clock:
    """The server's clock, which the test sets."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


class Friday:
    """A site with a contest that is frozen from 14:00 and ends at 15:00, in which ada and bob take part."""

    def __init__(self, site: Site, clock: Clock) -> None:
        self.site, self.clock = site, clock
        self.clients = {name: site.visitor(name) for name in ("ada", "bob", "eve", "tom", "carl", "root")}
        self.clients["nobody"] = site.app.test_client()
        hour = timedelta(hours=1)
        with site.database() as session:
            ids = {user.username: user.id for user in session.scalars(select(User))}
            for name, role in (("tom", Role.TEACHER), ("carl", Role.TEACHER), ("root", Role.OPERATOR)):
                session.get_one(User, ids[name]).role = role
            contest = Contest(
                slug="friday", title="Friday", description="", starts_at=NOON, ends_at=NOON + 3 * hour,
                frozen_at=NOON + 2 * hour, scoring="places", devices=H200.key, owner_id=ids["carl"],
                opens_sources=True, closes_solutions=False, created_at=NOON, webhook_url=HOOK, webhook_secret="s" * 32,
            )  # fmt: skip
            contests.set_challenges(contest, [SLUG])
            group = Class(
                title="Spring", description="", code=classes.new_code(), owner_id=ids["carl"], created_at=NOON
            )
            session.add_all([contest, group])
            session.flush()
            assignment = add_assignment(session, group.id, [SLUG], now=NOON, due_at=NOON + hour)
            self.class_id, self.assignment_id = group.id, assignment.id
            for name in ("ada", "bob"):
                contests.join(session, contest, user_id=ids[name], now=NOON)
                classes.join(session, group, user_id=ids[name], known_as=name, now=NOON)
        self.tokens = {name: site.token_of(name) for name in self.clients if name != "nobody"}

    def send(self, name: str, hours: float, value: float | None, slug: str = SLUG) -> str:
        """Submits ``hours`` hours after noon, and judges: accepted with a time, or wrong for None."""
        self.clock.now = NOON + timedelta(hours=hours)
        data = {"source": f"// of {name}: {value}", "device": H200.key, "mode": "submit"}
        page = f"/challenges/{slug}"
        answer = post(self.clients[name], f"{page}/submissions", data, page=page)
        if value is None:
            self.site.work(device=H200, cases=(wrong(),))
        else:
            self.site.work(device=H200, cases=accepted("n-1"), measurement=timed(value))
        return str(answer.location).rsplit("/", 1)[1]

    def reveal(self, *, revealed: bool = True) -> None:
        """Shows the standings, or freezes them again, as the organizer's form does."""
        with self.site.database() as session:
            contest = contests.find_contest(session, "friday")
            assert contest is not None
            contest.revealed = revealed
            renew_frozen(session, now=self.clock.now)

    def path(self, rule: str, public_id: str, token: str) -> str:
        """Returns an address of a route, as far as it can name ada, the contest, the class and a submission of ada."""
        tops = {"contests": "friday", "bottlenecks": "tail", "tracks": "foundations"}
        values = {
            "<slug>": tops.get(rule.removeprefix("/api/v1").split("/")[1], SLUG), "<challenge>": SLUG,
            "<public_id>": public_id, "<token>": token, "<username>": "ada",
            "<int(max=2147483647):number>": str(self.class_id),
            "<int(max=2147483647):assignment_id>": str(self.assignment_id),
        }  # fmt: skip
        for part, value in values.items():
            rule = rule.replace(part, value)
        return re.sub("<[^>]*>", "1", rule)

    def ask(self, name: str, path: str) -> str:
        """Returns the response to somebody there, without the parts that differ between two equal requests."""
        headers = (
            {"Authorization": f"Bearer {self.tokens[name]}"} if path.startswith("/api/") and name in self.tokens else {}
        )
        with self.clients[name].get(path, headers=headers) as answer:
            shown = answer.get_data().decode(errors="replace")
            text = f"{answer.status_code} {answer.headers.get('Location', '')} {shown}"
        return re.sub(
            r'name="(csrf_token|idempotency_key)"[^>]*>|(csrf-token|nonce)" content="[^"]*"|nonce="[^"]*"', "", text
        )

    def snapshot(self, public_id: str, token: str) -> dict[tuple[str, str], str]:
        """Returns the response to each viewer at each route."""
        found = {}
        for rule in sorted(KINDS):
            for name in VIEWERS:
                text = self.ask(name, self.path(rule, public_id, token))
                found[rule, name] = text.replace(public_id, "ID").replace(token, "TOKEN")
        return found


@pytest.fixture
def friday(tmp_path: Path) -> Iterator[Friday]:
    clock = Clock()
    site = make_site(tmp_path, clock=clock)
    site.add_device(H200)
    yield Friday(site, clock)
    limiter.reset()


def test_every_route_that_answers_get_is_in_the_table(friday: Friday) -> None:
    rules = {rule.rule for rule in friday.site.app.url_map.iter_rules() if "GET" in (rule.methods or ())}
    assert rules == set(KINDS), "add the route to the table, with what it shows of others' results"


@pytest.mark.timeout(900)
def test_no_route_shows_others_what_is_frozen(friday: Friday) -> None:
    friday.send("eve", 1.0, 4e-4)  # has solved it, and may read solutions
    friday.send("ada", 1.1, 3e-4)
    friday.send("bob", 1.2, 2e-4)
    friday.clock.now = NOON + timedelta(hours=2.5)
    before = friday.snapshot("aaaaaaaaaaaa", "no-token")
    organizer, operator = (friday.ask(name, "/contests/friday/standings.json") for name in ("carl", "root"))

    friday.send("ada", 2.5, None)
    frozen = friday.send("ada", 2.5, 1e-4)
    ada, page = friday.clients["ada"], f"/submissions/{frozen}"
    assert post(ada, f"{page}/publish", {}, page=page).status_code == 303
    assert post(ada, f"{page}/share", {}, page=page).status_code == 303
    token = friday.site.submission(frozen).share_token
    assert token is not None
    # After the end, too, although the contest opens its sources then.
    friday.clock.now = NOON + timedelta(hours=2.5)
    hidden = friday.snapshot(frozen, token)
    leaks = [
        f"{rule} to {name}" for (rule, name), text in hidden.items()
        if KINDS[rule] not in ("figures", "private") and text != before[rule, name]
    ]  # fmt: skip
    assert leaks == []
    # Who may, sees it.
    assert "nobody else sees this result" in ada.get(page).text
    for name, was in (("carl", organizer), ("root", operator)):
        assert friday.ask(name, "/contests/friday/standings.json") != was
    assert friday.clients["root"].get(page).status_code == 200
    friday.clock.now = NOON + timedelta(hours=4)
    for name in ("bob", "eve", "nobody"):
        assert friday.ask(name, page)[:3] in ("404", "302"), name

    friday.clock.now = NOON + timedelta(hours=2.5)
    friday.reveal()
    friday.clock.now = NOON + timedelta(hours=4)
    ended = friday.snapshot(frozen, token)
    shown = {rule for rule, name in ended if ended[rule, name] != hidden[rule, name]}
    silent = {rule for rule, kind in KINDS.items() if kind == "results"} - shown
    assert silent == set(), "these routes are said to show results, and show none"


def totals(site: Site) -> tuple[object, ...]:
    with site.database() as session:
        challenge = session.get(ChallengeTotals, SLUG)
        assert challenge is not None
        columns = [getattr(BestResult, name) for name in best_query().selected_columns.keys()]  # noqa: SIM118
        held = session.execute(select(*columns)).all()
        assert sorted(held) == sorted(session.execute(best_query()).all())
        counted = select(func.count()).where(Submission.verdict.is_not(None), Submission.frozen.is_(False))
        accepted_ones = counted.where(Submission.verdict == "AC")
        solvers = accepted_ones.with_only_columns(func.count(Submission.user_id.distinct()))
        wanted = tuple(
            session.scalar(one.where(Submission.challenge == SLUG)) for one in (counted, accepted_ones, solvers)
        )
        assert (challenge.judged, challenge.accepted, challenge.solvers) == wanted
        return (*wanted, sorted(row.submission_id for row in held))


def test_totals_and_boards_are_right_whatever_freezes_and_reveals(friday: Friday) -> None:
    site, root = friday.site, friday.clients["root"]
    assert root.get("/").status_code == 200
    friday.send("bob", 1.0, 3e-4)
    plain = totals(site)
    first = friday.send("ada", 2.1, 2e-4)
    friday.send("bob", 2.2, 1e-4)
    friday.send("ada", 2.3, None)
    assert totals(site) == plain
    friday.reveal()
    revealed = totals(site)
    assert revealed[:3] == (4, 3, 2)
    friday.reveal(revealed=False)
    assert totals(site) == plain
    with site.database() as session:
        contest = contests.find_contest(session, "friday")
        ada, submission = find_user(session, "ada"), session.scalar(select(Submission).filter_by(public_id=first))
        assert contest is not None
        assert ada is not None
        assert submission is not None
        actor = Actor("root", None, "")
        rejudge(session, actor, submission, "again", now=friday.clock.now)
        contests.leave(session, contest, user_id=ada.id)
        renew_frozen(session, now=friday.clock.now)
        assert not submission.frozen
        contests.join(session, contest, user_id=ada.id, now=friday.clock.now)
        renew_frozen(session, now=friday.clock.now)
        assert submission.frozen
    site.work(device=H200, cases=accepted("n-1"), measurement=timed(2e-4))
    assert totals(site) == plain
    with site.database() as session:
        eve, ada = find_user(session, "eve"), find_user(session, "ada")
        assert eve is not None
        assert ada is not None
        merge_user(session, actor, ada, eve, now=friday.clock.now)
    assert totals(site) == plain
    friday.reveal()
    assert totals(site) == revealed
    with site.database() as session:
        submission = session.scalar(select(Submission).filter_by(public_id=first))
        assert submission is not None
        take_off_board(session, actor, submission, "copied", now=friday.clock.now)
    totals(site)


def test_a_revealed_result_is_told_and_audited_then(friday: Friday) -> None:
    def told() -> list[str]:
        with friday.site.database() as session:
            assert session.scalar(select(Measurement.submission_id).limit(1)) is not None
            own = select(WebhookMessage.subject).filter_by(event="accepted")
            return list(session.scalars(own.order_by(WebhookMessage.id)))

    def audits() -> int:
        with friday.site.database() as session:
            return session.query(AuditJob).filter_by(contest_id=0).delete()

    early = friday.send("bob", 1.0, 3e-4)
    assert (told(), audits()) == ([early], 1)
    late = friday.send("ada", 2.0, 2e-4)
    assert (told(), audits()) == ([early], 0)
    friday.reveal()
    assert (told(), audits()) == ([early, late], 1)


def test_who_is_in_no_such_contest_and_other_challenges_are_seen_at_once(friday: Friday) -> None:
    friday.send("eve", 2.5, 1e-4)
    friday.send("ada", 2.5, 2e-4, slug="softmax")
    for slug, name in ((SLUG, "eve"), ("softmax", "ada")):
        entries = friday.clients["nobody"].get(f"/api/v1/leaderboards/{slug}").get_json()["entries"]
        assert [entry["username"] for entry in entries] == [name]


def test_the_organizers_form_and_membership_freeze_what_was_sent_before(friday: Friday) -> None:
    friday.send("eve", 2.5, 1e-4)
    friday.send("ada", 1.5, 2e-4)
    carl, eve, page = friday.clients["carl"], friday.clients["eve"], "/contests/friday"

    def board() -> list[str]:
        entries = friday.clients["nobody"].get(f"/api/v1/leaderboards/{SLUG}").get_json()["entries"]
        return [entry["username"] for entry in entries]

    assert board() == ["eve", "ada"]
    assert post(eve, f"{page}/join", {}, page=page).status_code == 303
    assert board() == ["ada"]
    form = {
        "title": "Friday", "slug": "friday", "challenges": SLUG, "devices": H200.key, "scoring": "places",
        "starts_at": "2026-03-02T12:00", "ends_at": "2026-03-02T15:00", "frozen_at": "2026-03-02T13:00",
    }  # fmt: skip
    assert post(carl, f"{page}/edit", form).status_code == 303
    assert board() == []
    assert post(carl, f"{page}/edit", {**form, "revealed": "y"}).status_code == 303
    assert board() == ["eve", "ada"]
