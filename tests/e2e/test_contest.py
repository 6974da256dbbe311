"""A contest of twenty from its start through freeze and end to the reveal, in a real browser, with the leak table.

Judgements are simulated, and the test moves the server's clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.conftest import Served, serve
from tests.integration.web.test_freeze import KINDS, NOON, Clock, Friday
from tests.web_site import H200, make_site, post
from web.rate_limits import limiter

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive(costly=True), pytest.mark.slow(30)]

PAGE = "/contests/friday"
OTHERS = [f"user{number:02d}" for number in range(3, 21)]
#: Who sends something better while the standings are frozen; the last is the best of all then.
LATE = (*OTHERS[:4], "ada")


@pytest.fixture
def friday(tmp_path: Path) -> Iterator[Friday]:
    clock = Clock()
    site = make_site(tmp_path, clock=clock)
    site.add_device(H200)
    made = Friday(site, clock)
    made.clients |= {name: site.visitor(name) for name in OTHERS}
    clock.now = NOON - timedelta(hours=1)
    yield made
    limiter.reset()


@pytest.fixture
def served(friday: Friday) -> Iterator[Served]:
    with serve(friday.site) as served:
        yield served


@pytest.fixture
def see(browser: Browser, served: Served, friday: Friday) -> Iterator[Callable[[str, str], Page]]:
    """Shows an address to somebody, in a browser of their own."""
    pages: dict[str, Page] = {}

    def open_as(name: str, path: str = PAGE) -> Page:
        if name not in pages:
            context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
            context.set_default_timeout(60_000)
            if name != "nobody":
                cookie = friday.clients[name].get_cookie(friday.site.app.config["SESSION_COOKIE_NAME"])
                assert cookie is not None
                context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": served.url}])
            pages[name] = context.new_page()
        pages[name].goto(f"{served.url}{path}")
        return pages[name]

    yield open_as
    for page in pages.values():
        page.context.close()


def row(page: Page, name: str) -> Locator:
    return page.locator("table.board tbody tr").filter(has_text=name)


def asked(friday: Friday, hours: float, public_id: str, token: str) -> dict[tuple[str, str], str]:
    """Returns the responses of the table's routes to a visitor and a member, at an hour after noon."""
    friday.clock.now = NOON + timedelta(hours=hours)
    return {
        (rule, name): friday.ask(name, friday.path(rule, public_id, token))
        .replace(public_id, "ID")
        .replace(token, "TOKEN")
        for rule in sorted(KINDS)
        for name in ("nobody", "bob")
    }


def test_a_contest_of_twenty_keeps_its_secrets_until_the_reveal(friday: Friday, see: Callable[..., Page]) -> None:
    # Before the start, eighteen join ada and bob.
    for name in OTHERS:
        page = see(name)
        page.get_by_role("button", name="Take part").click()
        expect(page.get_by_text("You take part")).to_be_visible()
        page.context.close() if name != OTHERS[0] else None
    expect(see("nobody").get_by_text("20 take part")).to_be_visible()

    # While it runs, everybody sees everything.
    for number, name in enumerate(("ada", "bob", *OTHERS)):
        friday.send(name, 1 + number / 100, 3e-4 + number * 1e-6)
    page = see("nobody")
    expect(page.locator("table.board tbody tr")).to_have_count(20)
    expect(row(page, "ada").locator(".rank")).to_have_text("1")
    expect(row(page, OTHERS[-1]).locator(".rank")).to_have_text("20")

    # During the freeze and after the end, nobody learns what was sent meanwhile.
    before = {hours: asked(friday, hours, "aaaaaaaaaaaa", "no-token") for hours in (2.5, 4.0)}
    for number, name in enumerate(LATE):
        frozen = friday.send(name, 2.2 + number / 100, 2e-4 - number * 1e-5)
    ada, own = friday.clients["ada"], f"/submissions/{frozen}"
    for action in ("publish", "share"):
        assert post(ada, f"{own}/{action}", {}, page=own).status_code == 303
    token = friday.site.submission(frozen).share_token
    assert token is not None
    for hours in (2.5, 4.0):
        hidden = asked(friday, hours, frozen, token)
        leaks = [
            f"{rule} to {name} at {hours} h"
            for (rule, name), text in hidden.items()
            if KINDS[rule] not in ("figures", "private") and text != before[hours][rule, name]
        ]
        assert leaks == []
        page = see("nobody")
        expect(page.get_by_text("Ended" if hours == 4.0 else "Runs, and ends")).to_be_visible()
        expect(page.get_by_text("Frozen at 14:00 UTC")).to_be_visible()
        expect(row(page, OTHERS[0])).to_contain_text("302")
        expect(row(see("ada"), "ada")).to_contain_text("160")
        expect(row(see("carl"), OTHERS[0])).to_contain_text("200")

    # The organizer reveals them, and the best of the last hour leads.
    page = see("carl", f"{PAGE}/edit")
    page.get_by_label("Show the frozen standings in full").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Friday")).to_be_visible()
    revealed = asked(friday, 4.0, frozen, token)
    silent = {rule for rule, kind in KINDS.items() if kind == "results"} - {
        rule for rule, name in revealed if revealed[rule, name] != hidden[rule, name]
    }
    page = see("nobody")
    expect(page.get_by_text("Frozen at")).to_have_count(0)
    for rank, name in enumerate(reversed(LATE), start=1):
        expect(row(page, name).locator(".rank")).to_have_text(str(rank))
    expect(see("nobody", f"{PAGE}/screen").locator("table.board tbody tr").first).to_contain_text("ada")
    assert silent == set(), "these routes are said to show results, and show none"
