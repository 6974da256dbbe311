"""People in a real browser: their accounts, contests, classes, and what operators do."""

from __future__ import annotations

import csv
import email
import email.policy
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Download, Page, expect

from store.models import Role
from store.people.accounts import find_user
from tests.e2e.conftest import Served, serve
from tests.services.oidc_server import CLIENT_ID, CLIENT_SECRET
from tests.unit.judge.compile.test_likeness import KERNEL, disguised
from tests.web_site import H200, PASSWORD, Site, accepted, make_site, post, timed, wrong

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive]

CHALLENGE = "/challenges/vector-add"
NEW_PASSWORD = "another long one of hers"

#: Opens the browser of a user, who is signed in, at a path.
Open = Callable[..., Page]


@pytest.fixture
def people(browser: Browser, served: Served) -> Iterator[Open]:
    contexts = []

    def open_as(username: str, path: str = "/", *, role: Role = Role.USER) -> Page:
        cookie = served.site.visitor(username).get_cookie(served.site.app.config["SESSION_COOKIE_NAME"])
        assert cookie is not None
        with served.site.database() as session:
            user = find_user(session, username)
            assert user is not None
            user.role = role
        context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
        context.set_default_timeout(60_000)
        context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": served.url}])
        contexts.append(context)
        page = context.new_page()
        page.goto(f"{served.url}{path}")
        return page

    yield open_as
    for context in contexts:
        context.close()


def log_in(page: Page, served: Served, password: str) -> None:
    page.goto(f"{served.url}/account/log-in")
    page.get_by_label("User name").fill("ada")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()


def last_link(site: Site) -> str:
    """Returns the link of the latest mail."""
    site.services.background.wait()
    newest = max((site.services.settings.data_dir / "mails").glob("*.eml"), key=lambda path: path.name)
    text = email.message_from_bytes(newest.read_bytes(), policy=email.policy.default).get_content()
    found = re.search(r"http://\S+", text)
    assert found is not None
    return found[0]


def test_a_forgotten_password_is_reset_by_mail(page: Page, served: Served, people: Open) -> None:
    hers = people("ada", "/account/")
    hers.get_by_role("textbox", name="E-mail").fill("ada@example.org")
    hers.locator("#email_password").fill(PASSWORD)
    hers.get_by_role("button", name="Send a link to confirm it").click()
    hers.goto(last_link(served.site))
    hers.get_by_role("button", name="Confirm").click()
    hers.goto(f"{served.url}/account/")
    expect(hers.get_by_text("ada@example.org, confirmed")).to_be_visible()
    page.goto(f"{served.url}/account/log-in")
    page.get_by_role("link", name="Forgot your password?").click()
    page.get_by_label("User name").fill("ada@example.org")
    page.get_by_role("button", name="Send the link").click()
    expect(page.get_by_role("status")).to_contain_text("an e-mail is on its way")
    link = last_link(served.site)
    page.goto(link)
    page.get_by_label("New password", exact=True).fill(NEW_PASSWORD)
    page.get_by_label("again").fill(NEW_PASSWORD)
    page.get_by_role("button", name="Set the password").click()
    hers.reload()
    expect(hers.get_by_role("heading", name="Log in")).to_be_visible()  # her other sessions ended
    log_in(page, served, PASSWORD)
    expect(page.locator(".wrong, .flash.error")).to_be_visible()
    log_in(page, served, NEW_PASSWORD)
    expect(page.get_by_role("banner").get_by_role("link", name="ada")).to_be_visible()
    answer = page.goto(link)
    assert answer is not None
    assert answer.status == 404


def test_signing_in_at_an_issuer_makes_an_account_once(page: Page, data_dir: Path, oidc_issuer: str) -> None:
    client = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
    site = make_site(data_dir, oidc=[{"key": "school", "title": "School", "issuer": oidc_issuer, **client}])
    with serve(site) as served:
        for known in (False, True):
            page.goto(f"{served.url}/account/log-in")
            page.get_by_role("link", name="Sign in with School").click()
            page.get_by_label("Who are you?").fill("grace")
            page.get_by_role("button", name="Allow").click()
            if not known:
                expect(page.get_by_text("You have no account here yet")).to_be_visible()
                page.get_by_label("User name").fill("Grace.H")
                page.get_by_role("button", name="Create the account").click()
            expect(page.get_by_role("banner").get_by_role("link", name="Grace.H")).to_be_visible()
            page.get_by_role("button", name="Log out").click()
            expect(page.get_by_role("banner").get_by_role("link", name="Log in")).to_be_visible()


def test_a_token_is_made_once_copied_used_and_revoked(people: Open, served: Served) -> None:
    page = people("ada", "/account/")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_label("Name", exact=True).fill("laptop")
    page.get_by_role("button", name="Make a token").click()
    text = page.locator("#token-text").inner_text()
    page.get_by_role("button", name="Copy").click()
    assert page.evaluate("navigator.clipboard.readText()") == text

    def status() -> int:
        return page.request.get(f"{served.url}/api/v1/me", headers={"Authorization": f"Bearer {text}"}).status

    assert status() == 200
    page.reload()
    expect(page.locator("#token-text")).to_have_count(0)
    expect(page.get_by_role("row", name="laptop")).to_have_count(1)
    page.get_by_role("button", name="Revoke laptop").click()
    expect(page.get_by_role("row", name="laptop")).to_have_count(0)
    assert status() == 401


def test_data_is_exported_and_the_account_closed(people: Open, served: Served) -> None:
    page = people("ada", CHALLENGE)
    served.site.add_device(H200)
    public_id = submit(page, served, KERNEL, 1e-4)
    page.goto(f"{served.url}/account/")
    with zipfile.ZipFile(downloaded(page, "Download everything").path()) as archive:
        assert archive.read(f"sources/vector-add/{public_id}.cu").decode() == KERNEL
    page.get_by_label("Your user name, to be sure").fill("ada")
    page.locator("#close_password").fill(PASSWORD)
    page.get_by_role("button", name="Close the account for good").click()
    expect(page.get_by_role("banner").get_by_role("link", name="Log in")).to_be_visible()
    page.goto(f"{served.url}/leaderboards/vector-add?device={H200.key}")
    expect(page.get_by_role("row", name="deleted-")).to_contain_text("100")
    log_in(page, served, PASSWORD)
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def test_a_contest_from_its_making_to_its_export(people: Open, served: Served) -> None:
    site, now = served.site, served.site.services.clock()
    site.add_device(H200)
    teacher = people("teacher", "/contests/", role=Role.TEACHER)
    teacher.get_by_role("link", name="New contest").click()
    for label, value in (
        ("Title", "Friday night"),
        ("Challenges", "vector-add"),
        ("Start, in UTC", field(now - timedelta(hours=1))),
        ("End, in UTC", field(now + timedelta(hours=1))),
        ("Code to join", "tea time"),
    ):
        teacher.get_by_label(label, exact=label == "Challenges").fill(value)
    teacher.get_by_role("textbox", name="Address", exact=True).fill("friday")
    teacher.get_by_label("Devices").select_option(H200.key)
    teacher.get_by_label("Scoring").select_option("points")
    teacher.get_by_label("After the end, members see").check()
    teacher.get_by_role("button", name="Save").click()
    expect(teacher.get_by_text("The contest is saved.")).to_be_visible()
    pages, ids = {}, {}
    for name, value in (("ada", 2e-4), ("bob", 1e-4), ("cy", 4e-4)):
        pages[name] = page = people(name, "/contests/friday")
        page.get_by_label("Code to join").fill("tea time")
        page.get_by_role("button", name="Take part").click()
        expect(page.get_by_text("You take part:")).to_be_visible()
        page.goto(f"{served.url}{CHALLENGE}")
        ids[name] = submit(page, served, f"// by {name}\n{KERNEL}", value)
        expect(page.get_by_text("It counts in Friday night")).to_be_visible()
    ada = pages["ada"]
    ada.goto(f"{served.url}/contests/friday")
    expect(ada.locator(".board tbody tr")).to_have_count(3)
    expect(ada.locator(".board .who")).to_have_text(["bob", "ada", "cy"])
    expect(ada.locator("tr.mine")).to_contain_text("50.00")
    answer = ada.goto(f"{served.url}/submissions/{ids['bob']}")
    assert answer is not None
    assert answer.status == 404
    object.__setattr__(site.services, "clock", lambda: now + timedelta(hours=2))
    ada.goto(f"{served.url}/submissions/{ids['bob']}")
    expect(ada.get_by_text("// by bob", exact=True)).to_be_visible()
    teacher.goto(f"{served.url}/contests/friday")
    expect(teacher.get_by_text("Ended")).to_be_visible()
    rows = list(csv.reader(Path(downloaded(teacher, "CSV").path()).read_text().splitlines()))
    assert [row[:3] for row in rows[1:]] == [["1", "bob", "100.0"], ["2", "ada", "50.0"], ["3", "cy", "25.0"]]
    teacher.get_by_role("link", name="JSON").click()
    exported = json.loads(teacher.locator("body").inner_text())
    assert [row["user"] for row in exported["standings"]] == ["bob", "ada", "cy"]


def test_a_class_with_an_assignment(people: Open, served: Served) -> None:
    site, now = served.site, served.site.services.clock()
    site.add_device(H200)
    teacher = people("euler", "/classes/", role=Role.TEACHER)
    teacher.get_by_role("link", name="New class").click()
    teacher.get_by_label("Title").fill("Spring")
    teacher.get_by_role("button", name="Save").click()
    invitation = teacher.get_by_role("link", name="/classes/join").inner_text()
    teacher.get_by_role("link", name="New assignment").click()
    teacher.get_by_label("Title").fill("Sums")
    teacher.get_by_label("Challenges", exact=True).fill("vector-add")
    teacher.get_by_label("Due, in UTC").fill(field(now + timedelta(days=1)))
    teacher.get_by_role("button", name="Save").click()
    expect(teacher.get_by_role("heading", name="Sums")).to_be_visible()
    for name, source in (("ada", KERNEL), ("bob", disguised(KERNEL))):
        page = people(name, invitation.removeprefix(served.url))
        expect(page.get_by_role("heading", name="Join Spring")).to_be_visible()
        page.get_by_label("Your name or number").fill(name.title())
        page.get_by_role("button", name="Join").click()
        page.get_by_role("link", name="Sums").click()
        page.get_by_role("link", name="Vector").click()
        submit(page, served, source, 1e-4)
        page.go_back()
        page.goto(f"{served.url}/classes/1")
        expect(page.get_by_role("row", name="Sums")).to_contain_text("1 of 1")
    teacher.reload()
    teacher.get_by_label("User name").fill("bob")
    teacher.locator("#due_at").fill(field(now + timedelta(days=2)))
    teacher.get_by_role("button", name="Set").click()
    expect(teacher.get_by_role("row", name="bob")).to_contain_text("extended")
    teacher.get_by_role("link", name="Similar sources").click()
    expect(teacher.get_by_role("row", name="Ada")).to_contain_text("100.0 %")
    teacher.get_by_role("link", name="Compare").click()
    expect(teacher.get_by_role("heading", name="Comparison")).to_be_visible()
    teacher.goto(f"{served.url}/classes/1")
    rows = list(csv.reader(Path(downloaded(teacher, "Grades as CSV").path()).read_text().splitlines()))
    assert rows == [
        ["name", "user", "section", "Sums (of 1)", "Sums points (of 100)", "total %"],
        ["Ada", "ada", "", "1", "100", ""],
        ["Bob", "bob", "", "1", "100", ""],
    ]


def test_an_operator_has_a_submission_judged_again(people: Open, served: Served) -> None:
    site = served.site
    site.add_device(H200)
    ada = people("ada", CHALLENGE)
    public_id = submit(ada, served, KERNEL, 1e-4)
    operator = people("ops", "/admin/submissions", role=Role.OPERATOR)
    operator.get_by_label("User").fill("ada")
    operator.get_by_role("button", name="Find").click()
    operator.locator(f'a[href="/submissions/{public_id}"]').first.click()
    operator.get_by_label("Why judge it again").fill("the driver was wrong")
    operator.get_by_role("button", name="Judge again", exact=True).click()
    expect(operator.get_by_text("It is judged again.")).to_be_visible()
    ada.goto(f"{served.url}/leaderboards/vector-add?device={H200.key}")
    expect(ada.get_by_role("row", name="ada")).to_have_count(0)
    site.work(device=H200, cases=(wrong("n-1"),))
    ada.goto(f"{served.url}/submissions/{public_id}")
    expect(ada.get_by_role("heading", name="Wrong answer")).to_be_visible()
    before = ada.get_by_role("region", name="Judged before, and now").get_by_role("row", name="Accepted")
    expect(before).to_contain_text("the driver was wrong")
    log = people("ops", "/admin/log", role=Role.OPERATOR)
    expect(log.get_by_role("row", name=f"submission {public_id}")).to_contain_text("rejudge")


def submit(page: Page, served: Served, source: str, value: float) -> str:
    """Submits a source on the challenge's page, judges it, and returns its id; the report is on the page then."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.reload()
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.evaluate("text => navigator.clipboard.writeText(text)", source)
    page.keyboard.press("Control+v")
    page.get_by_label("Device").select_option(H200.key)
    page.get_by_role("button", name="Submit").click()
    expect(page.locator('[data-part="line"]')).to_have_text("Next in the queue")
    served.site.work(device=H200, cases=accepted("n-1"), measurement=timed(value))
    page.get_by_role("link", name="Page of this submission").click()
    expect(page.get_by_role("link", name="Back to the editor")).to_be_visible()
    expect(page.get_by_role("heading", name="Accepted")).to_be_visible()
    return page.url.rsplit("/", 1)[1]


def downloaded(page: Page, link: str) -> Download:
    """Returns the file that a link downloads."""
    with page.expect_download() as download:
        page.get_by_role("link", name=link, exact=True).click()
    return download.value


def field(moment: datetime) -> str:
    """Returns a moment as a form's field takes it."""
    return moment.strftime("%Y-%m-%dT%H:%M")


def test_who_gives_up_reads_the_solutions_in_the_workbench(served: Served, people: Open) -> None:
    """Ada publishes, bob gives up in the tab, reads and likes, and what he sends has no place."""
    served.site.add_device(H200)
    hers = people("ada", CHALLENGE)
    data = {"source": KERNEL, "device": H200.key, "mode": "submit"}
    public_id = str(post(served.site.visitor("ada"), f"{CHALLENGE}/submissions", data, page=CHALLENGE).location).rsplit(
        "/", 1
    )[1]
    served.site.work(device=H200, cases=accepted("n-1"), measurement=timed())
    hers.goto(f"{served.url}/submissions/{public_id}")
    hers.get_by_role("button", name="Publish as a solution").click()
    expect(hers.get_by_role("button", name="Withdraw it")).to_be_visible()

    his = people("bob", CHALLENGE)
    his.get_by_role("tab", name="Solutions").click()
    expect(his.get_by_role("heading", name="Solve it first")).to_be_visible()
    his.get_by_role("button", name="Give up and show the solutions").click()
    expect(his.get_by_role("heading", name="Solve it first")).to_be_visible()  # the box is not ticked
    his.get_by_label("I give up this challenge for good").check()
    his.get_by_role("button", name="Give up and show the solutions").click()
    expect(his.get_by_role("heading", name="Step by step")).to_be_visible()
    his.get_by_text("The kernel").first.click()
    expect(his.locator(".solution-steps pre").first).to_contain_text("solve(")
    his.get_by_role("link", name="Read the solution of ada").click()
    his.get_by_role("button", name="Like").click()
    expect(his.get_by_role("button", name="Remove your like")).to_be_visible()
    post(served.site.visitor("bob"), f"{CHALLENGE}/submissions", data, page=CHALLENGE)
    served.site.work(device=H200, cases=accepted("n-1"), measurement=timed(1e-5))
    his.goto(f"{served.url}/leaderboards/vector-add?device={H200.key}")
    expect(his.get_by_role("region", name="After giving up").get_by_role("link", name="bob")).to_be_visible()
    expect(his.locator(".board").get_by_role("link", name="bob")).to_have_count(0)
