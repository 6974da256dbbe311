"""An open page shows the emulator's findings as they come, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.e2e.conftest import Served
from tests.integration.web.test_rechecks import check, enter, race
from tests.web_site import H200

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive]


def test_the_check_appears_by_itself_and_leads_to_its_lines(served: Served, context: BrowserContext) -> None:
    served.site.add_device(H200)
    public_id = enter(served.site, "ada", 1e-4, None)
    cookie = served.site.visitor("ada").get_cookie(served.site.app.config["SESSION_COOKIE_NAME"])
    assert cookie is not None
    context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": served.url}])
    page = context.new_page()
    page.goto(f"{served.url}/submissions/{public_id}")
    expect(page.get_by_role("heading", name="To be checked on the emulator")).to_be_visible()
    check(served.site, race())
    found = page.get_by_role("region", name="Right by luck on this GPU")
    expect(found).to_contain_text("Race on shared memory, lines 3 and 4.")
    found.get_by_role("link", name="line 4").click()
    expect(page.locator("#L4")).to_be_in_viewport()
