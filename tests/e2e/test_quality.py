"""Every page passes axe-core, and keeps its budget of weight and requests.

The pages are those of the site's routes: one that is not named here fails the test.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from flask.testing import FlaskClient
from playwright.sync_api import Browser, BrowserContext, Page
from sqlalchemy import select
from sqlalchemy.orm import Session

from judge.compile.assembly_json import to_json
from judge.judgement import BuildReport, MismatchMap
from store.assemblies import claim_assembly, finish_assembly
from store.models import Class, Contest, Job, Role, StaffRole, State
from store.operation.administration import suspend_user
from store.operation.changed_settings import change_setting
from store.operation.operator_log import Actor
from store.people.accounts import create_token, find_user
from store.people.notices import post_notice
from store.teaching import classes
from store.teaching.contests import join, set_challenges
from store.teaching.lti_courses import Services, connect, link
from store.teaching.lti_platforms import PlatformDetails, save_platform
from store.teaching.rights import add_staff
from tests.assignments import add_assignment
from tests.e2e.conftest import Served
from tests.e2e.test_reports import mapped
from tests.integration.web.test_assembly import MADE
from tests.integration.web.test_modelled_time import modelled
from tests.integration.web.test_rechecks import check, race
from tests.web_site import H200, KERNEL, accepted, faulty, post, trusted, wrong

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive(by_file=True)]

ASSIGNMENTS = "/classes/<int(max=2147483647):number>/assignments"
CHALLENGE = "/challenges/vector-add"
#: What answers with something other than a page of its own: files, JSON, parts of pages, redirects, and the pages
#: behind links and steps, which are made of the same forms.
NO_PAGES = {
    "static", "sharing.source", "submissions.source", "submissions.events", "submissions.report",
    "submissions.recheck", "challenges.starter",
    "challenges.show_draft", "challenges.versions", "challenges.show_version", "health.healthz", "health.readyz",
    "metrics.metrics", "accounts.export_data", "accounts.confirm_email", "accounts.reset", "accounts.second_step",
    "accounts.welcome", "accounts.sign_in_elsewhere", "accounts.come_back", "contests.export_csv",
    "contests.export_json", "profile.report",
    "help.favicon", "help.picture", "help.challenge_picture", "help.robots", "help.sitemap",
    "challenges.search", "challenges.meant_challenges", "challenges.meant_problems", "challenges.meant_leaderboard",
    "challenges.meant_login", "challenges.meant_signup", "challenges.meant_register",
    "solutions.source", "feeds.challenges", "feeds.board", "classes.class_grades", "classes.assignment_grades",
    "classes.canvas_grades", "classes.moodle_grades", "lti.enter", "lti.connect", "lti_platform.choose",
    "lti_platform.log_in", "lti_platform.keys",
}  # fmt: skip
#: Pages that are for visitors who have not signed in, by route.
SIGNED_OUT = {path: path for path in ("/account/log-in", "/account/sign-up")}


@dataclass(frozen=True)
class Full:
    """A site with something on each page. ``paths`` names each page by its route."""

    served: Served
    visitor: FlaskClient
    paths: dict[str, str]


@pytest.fixture
def full(served: Served) -> Full:
    site = served.site
    site.add_device(H200)
    ada = site.visitor("ada")
    ids = []
    for device, cases, measurement, build in (
        (H200, accepted("n-1", "n-33"), trusted(1.5e-4), None),
        (H200, accepted("n-1", "n-33"), trusted(), None),
        (H200, (*accepted("n-1"), wrong("n-2"), faulty("n-33")), None, None),
        (H200, (), None, BuildReport(False, 0.4, 'kernel.cu(3): error: identifier "x" is undefined')),
    ):
        data = {"source": KERNEL, "device": device.key, "mode": "submit"}
        sent = post(ada, f"{CHALLENGE}/submissions", data, page=CHALLENGE)
        ids.append(sent.location.rsplit("/", 1)[1])
        site.work(device=device, cases=cases, measurement=measurement, build=build)
    data = {"source": KERNEL, "device": "emulator", "mode": "submit"}
    slow = post(ada, f"{CHALLENGE}/submissions", data, page=CHALLENGE).location
    site.work(cases=(*accepted("n-1"), mapped("n-2", MismatchMap(1, 40, ("0" * 39 + "9",)))), measurement=modelled())
    with site.database() as session:
        user = find_user(session, "ada")
        assert user is not None
        user.role = Role.OPERATOR
        ops, now = Actor("ops"), site.services.clock()
        post_notice(session, ops, "No GPUs tonight", kind="warning", now=now)
        change_setting(session, ops, "max_waiting", 50, now=now)
        create_token(session, user=user, name="the laptop in the lecture hall", scopes=("read", "submit", "admin"))
    bob = site.visitor("bob")
    data = {"source": KERNEL, "device": H200.key, "mode": "submit"}
    hers = str(post(bob, f"{CHALLENGE}/submissions", data, page=CHALLENGE).location).rsplit("/", 1)[1]
    site.work(device=H200, cases=accepted("n-1"), measurement=trusted(1.1e-4))
    post(bob, f"/submissions/{hers}/publish", {}, page=f"/submissions/{hers}")
    post(ada, f"/submissions/{ids[1]}/publish", {}, page=f"/submissions/{ids[1]}")
    eve = site.visitor("eve")
    post(eve, f"{CHALLENGE}/give-up", {"sure": "1"}, page=f"{CHALLENGE}/solutions")
    post(eve, f"{CHALLENGE}/submissions", data, page=CHALLENGE)
    site.work(device=H200, cases=accepted("n-1"), measurement=trusted(1e-4))
    check(site, race())
    post(ada, f"/submissions/{ids[1]}/share", {}, page=f"/submissions/{ids[1]}")
    shared = site.submission(ids[1]).share_token
    post(ada, f"/submissions/{ids[1]}/assembly", {"arch": "sm_80"}, page=f"/submissions/{ids[1]}/assembly")
    with site.database() as session:
        lease = claim_assembly(session, now=site.services.clock())
        assert lease is not None
        assert finish_assembly(session, lease, to_json(MADE), now=site.services.clock())
    now = site.services.clock()
    contest = Contest(
        slug="friday",
        title="Friday",
        description="Bring *tea*.",
        starts_at=now - timedelta(days=1),
        ends_at=now + timedelta(days=1),
        scoring="points",
        devices=H200.key,
        created_at=now,
    )
    with site.database() as session:
        set_challenges(contest, ["vector-add", "softmax"])
        session.add(contest)
        session.flush()
        user = find_user(session, "ada")
        assert user is not None
        join(session, contest, user_id=user.id, now=now)
        _add_class(session, owner_id=user.id, now=now)
    post(bob, f"{CHALLENGE}/submissions", data | {"device": "emulator"}, page=CHALLENGE)
    site.add_user("mallory-of-the-long-name")
    with site.database() as session:
        job = session.scalars(select(Job).order_by(Job.id.desc()).limit(1)).one()
        job.state, job.lease_owner, job.losses = State.BUILDING, "build-1 at gpu-1.example.org, 4711", 2
        job.last_error = "the worker was lost"
        user = find_user(session, "mallory-of-the-long-name")
        assert user is not None
        suspend_user(session, ops, user, "It sent miners, three nights in a row.", now=site.services.clock())
    paths = {
        "/": "/",
        "/account/": "/account/",
        "/account/forgot": "/account/forgot",
        "/account/second-factor": "/account/second-factor",
        "/challenges/<slug>": CHALLENGE,
        "/leaderboards/": "/leaderboards/",
        "/leaderboards/<slug>": f"/leaderboards/vector-add?device={H200.key}",
        "/ranking": "/ranking",
        "/users/<username>": "/users/ada",
        "/submissions": "/submissions",
        "/submissions/<public_id>": f"/submissions/{ids[1]}",
        "/submissions/<public_id>, modelled time and a map": slow,
        "/submissions/<public_id>, wrong": f"/submissions/{ids[2]}",
        "/submissions/<public_id>, compile error": f"/submissions/{ids[3]}",
        "/submissions/<public_id>/compare": f"/submissions/{ids[1]}/compare?with={ids[0]}",
        "/challenges/<slug>/solutions": f"{CHALLENGE}/solutions",
        "/challenges/<slug>/solutions, closed": "/challenges/softmax/solutions",
        "/challenges/<slug>/solutions/<public_id>": f"{CHALLENGE}/solutions/{hers}",
        "/shared/<token>": f"/shared/{shared}",
        "/submissions/<public_id>/profile": f"/submissions/{ids[1]}/profile",
        "/submissions/<public_id>/assembly": f"/submissions/{ids[1]}/assembly?arch=sm_80",
        "/admin/": "/admin/",
        "/admin/devices": "/admin/devices",
        "/admin/users": "/admin/users",
        "/admin/submissions": "/admin/submissions",
        "/admin/challenges": "/admin/challenges",
        "/admin/log": "/admin/log",
        "/admin/platforms": "/admin/platforms",
        "/admin/platforms/<int(max=2147483647):number>": "/admin/platforms/1",
        "/admin/site": "/admin/site",
        "/contests/": "/contests/",
        "/bottlenecks/": "/bottlenecks/",
        "/bottlenecks/<slug>": "/bottlenecks/tail",
        "/help/": "/help/",
        "/help/api": "/help/api",
        "/help/<slug>": "/help/user-guide",
        "/help/<slug>, wide tables": "/help/ladders",
        "/privacy": "/privacy",
        "/tracks/": "/tracks/",
        "/tracks/<slug>": "/tracks/first-kernels",
        "/tracks/<slug>/<challenge>": "/tracks/first-kernels/vector-add",
        "/contests/new": "/contests/new",
        "/contests/<slug>": "/contests/friday",
        "/contests/<slug>/edit": "/contests/friday/edit",
        "/contests/<slug>/screen": "/contests/friday/screen",
        "/contests/<slug>/trial": "/contests/friday/trial",
        "/contests/<slug>/submissions": "/contests/friday/submissions",
        "/contests/<slug>/challenges": "/contests/friday/challenges",
        "/classes/": "/classes/",
        "/classes/new": "/classes/new",
        "/classes/join": "/classes/join?code=abcdefgh23",
        "/classes/<int(max=2147483647):number>": "/classes/1",
        "/classes/<int(max=2147483647):number>/edit": "/classes/1/edit",
        "/classes/<int(max=2147483647):number>/copy": "/classes/1/copy",
        "/classes/<int(max=2147483647):number>/platform": "/classes/1/platform",
        "/classes/<int(max=2147483647):number>/staff": "/classes/1/staff",
        "/classes/<int(max=2147483647):number>/challenges": "/classes/1/challenges",
        "/classes/<int(max=2147483647):number>/matrix": "/classes/1/matrix",
        "/classes/<int(max=2147483647):number>/roster": "/classes/1/roster",
        f"{ASSIGNMENTS}/new": "/classes/1/assignments/new",
        f"{ASSIGNMENTS}/<int(max=2147483647):assignment_id>": "/classes/1/assignments/1",
        f"{ASSIGNMENTS}/<int(max=2147483647):assignment_id>/edit": "/classes/1/assignments/1/edit",
        f"{ASSIGNMENTS}/<int(max=2147483647):assignment_id>/attempts/<username>": (
            "/classes/1/assignments/1/attempts/ada"
        ),
        f"{ASSIGNMENTS}/<int(max=2147483647):assignment_id>/similarity": "/classes/1/assignments/1/similarity",
        "404": "/challenges/nothing",
    }
    return Full(served, ada, paths)


def _add_class(session: Session, *, owner_id: int, now: datetime) -> None:
    """Adds a class with an assignment, whose teacher is a member, too."""
    group = Class(title="Spring", description="*Hello*", code="abcdefgh23", owner_id=owner_id, created_at=now)
    session.add(group)
    session.flush()
    classes.join(session, group, user_id=owner_id, known_as="Lovelace, Ada", now=now)
    assignment = add_assignment(
        session, group.id, ["vector-add", "softmax"], now=now, opens_at=now - timedelta(days=1), least_percent=50
    )
    details = PlatformDetails(
        "School",
        "https://school.example",
        "10000000000001",
        ["1:0123abcd"],
        "https://school.example/jwks",
        "https://school.example/auth",
        "https://school.example/token",
    )
    there = save_platform(session, Actor("root"), details, now=now)
    course = connect(
        session,
        there,
        group,
        deployment_id="1",
        context_id="7",
        title="CUDA",
        given=Services("https://x.example/m"),
        now=now,
    )
    link(session, course, assignment, line_item_url=None, now=now)
    bob = find_user(session, "bob")
    assert bob is not None
    add_staff(session, group, user_id=bob.id, role=StaffRole.ASSISTANT, section="A")


def test_every_page_is_looked_at(full: Full) -> None:
    rules = full.served.site.app.url_map.iter_rules()
    pages = {rule.rule for rule in rules if "GET" in (rule.methods or ()) and rule.endpoint not in NO_PAGES}
    pages = {rule for rule in pages if not rule.startswith("/api/")}
    assert pages - {name.split(",")[0] for name in (*full.paths, *SIGNED_OUT)} == set()


ALL_RULES = {"resultTypes": ["violations"]}
#: What axe-core asks of colours, which are all that a dark page differs in from a light one.
COLOUR_RULES = {**ALL_RULES, "runOnly": ["color-contrast", "link-in-text-block"]}

#: Opens what folds, and returns what reaches over the edges of the screen: the page itself, and buttons by their texts.
OVER_THE_EDGE = """() => {
    for (const each of document.querySelectorAll("details")) each.open = true;
    const width = document.documentElement.clientWidth;
    const found = document.documentElement.scrollWidth > width ? ["the page"] : [];
    for (const each of document.querySelectorAll("button, .button, .actions > summary")) {
        const {left, right} = each.getBoundingClientRect();
        if (right > left && (left < -0.5 || right > width + 0.5)) found.push(each.textContent.trim());
    }
    return found;
}"""

#: By cell of a stacking table that has not the name of its column: both texts. The first cell may have none, and one
#: with buttons has none where its column's name is for screen readers.
MISLABELLED = """() => [...document.querySelectorAll("table.stacks")].flatMap((table) => {
    const heads = [...table.tHead.rows[0].cells].map((head) => (
        head.querySelector(".visually-hidden") ? "" : head.textContent.trim()
    ));
    return [...table.tBodies[0].rows].flatMap((row) => [...row.cells].map((cell, n) => [
        cell.dataset.label ?? (n ? "" : heads[0]), heads[n],
    ])).filter(([label, head]) => label !== head);
})"""


@pytest.mark.exhaustive(by_file=True, costly=True)
@pytest.mark.parametrize(("width", "then"), [(390, 700), (1440, 1000)])
def test_no_page_has_what_keeps_people_out(full: Full, browser: Browser, width: int, then: int) -> None:
    """Each page is opened once at ``width``, light; it becomes dark there, and then as wide as ``then``."""
    found: dict[str, list[str]] = {}
    axe, tables = Axe().axe_script, 0
    for signed_in, paths in ((True, full.paths), (False, SIGNED_OUT)):
        context = browser.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce")
        if signed_in:
            sign_in(context, full)
        page = context.new_page()
        for name, path in paths.items():
            page.emulate_media(color_scheme="light")
            answer = page.goto(full.served.url + path)
            assert answer is not None
            assert (answer.status, page.url) == (404 if name == "404" else 200, full.served.url + path)
            page.evaluate(axe)
            wrong = [f"light, {each}" for each in _violations(page)]
            page.emulate_media(color_scheme="dark")
            page.locator("html[data-shade=dark]").wait_for(state="attached")
            wrong += [f"dark, {each}" for each in _violations(page, COLOUR_RULES)]
            tables += page.locator("table.stacks").count()
            wrong += [f"the cell {cell} is called {label}" for label, cell in page.evaluate(MISLABELLED)]
            for wide in (width, then):
                page.set_viewport_size({"width": wide, "height": 900})
                wrong += [f"beyond the edge of {wide} pixels: {each}" for each in page.evaluate(OVER_THE_EDGE)]
            page.set_viewport_size({"width": width, "height": 900})
            if wrong:
                found[name] = wrong
        context.close()
    assert (tables, found) == (14, {})


def _violations(page: Page, options: dict[str, Any] = ALL_RULES) -> list[str]:
    violations = page.evaluate("(options) => axe.run(options)", options)["violations"]
    return [f"{each['id']}: {each['nodes'][0]['html']}" for each in violations]


#: By page: the most bytes that cross the network, and the most requests, when it is opened for the first time.
BUDGETS = {"/": (60_000, 5), "/challenges/<slug>": (350_000, 30)}


@pytest.mark.parametrize("name", BUDGETS)
def test_a_page_weighs_no_more_than_its_budget(full: Full, browser: Browser, name: str) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    wire = context.new_cdp_session(page)
    wire.send("Network.enable")
    received: list[int] = []
    asked: list[str] = []
    wire.on("Network.loadingFinished", lambda event: received.append(int(event["encodedDataLength"])))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(full.served.url + full.paths[name], wait_until="networkidle")
    context.close()
    most_bytes, most_requests = BUDGETS[name]
    assert sum(received) <= most_bytes, asked
    assert len(asked) <= most_requests, asked


def sign_in(context: BrowserContext, full: Full) -> None:
    """Gives the browser the session of the visitor."""
    cookie = full.visitor.get_cookie(full.served.site.app.config["SESSION_COOKIE_NAME"])
    assert cookie is not None
    context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": full.served.url}])
