"""A course of a learning platform on another site, in a real browser: by a link, and in a frame without cookies."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import jwt
import pytest
from playwright.sync_api import BrowserContext, expect

from store.clock import utc_now
from tests.assignments import add_assignment
from tests.e2e.conftest import Served, serve
from tests.services.lti_platform import INSTRUCTOR, ITEMS, LEARNER, LtiPlatform
from tests.web_site import make_site

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive]


@pytest.fixture
def platform() -> Iterator[LtiPlatform]:
    # A name for another site than that of the address: what a browser keeps from frames, it keeps here.
    made = LtiPlatform("localhost")
    yield made
    made.close()


@pytest.fixture
def served(data_dir: Path, platform: LtiPlatform) -> Iterator[Served]:
    site = make_site(data_dir, session_cookie_secure=True)
    site.add_device()
    platform.register(site, makes_teachers=True)
    with serve(site) as served:
        yield served


def test_a_course_opens_the_site_and_links_to_its_assignments(
    served: Served, platform: LtiPlatform, context: BrowserContext
) -> None:
    platform.users = {
        "teacher": {"subject": "t-1", "role": INSTRUCTOR, "preferred_username": "euler"},
        "chooser": {"subject": "t-1", "role": INSTRUCTOR, **platform.deep_linking()},
        "student": {"subject": "s-1", "role": LEARNER},
    }
    page = context.new_page()
    page.goto(f"{platform.url}/course?hint=teacher&site={served.url}")
    page.get_by_role("link", name="Open").click()
    expect(page.get_by_role("heading", name="Choose an account")).to_be_visible()
    expect(page.get_by_label("User name")).to_have_value("euler")
    page.get_by_role("button", name="Create the account").click()
    page.get_by_label("Title of a new class").fill("CUDA")
    page.get_by_role("button", name="Connect").click()
    expect(page.get_by_text("Connected to CUDA, spring of School")).to_be_visible()

    now = utc_now()
    with served.site.database() as session:
        add_assignment(session, 1, now=now, opens_at=now - timedelta(hours=1), points=20.0)

    page.goto(f"{platform.url}/course?hint=chooser&framed=1&site={served.url}")
    frame = page.frame_locator("iframe")
    frame.get_by_label("Sums").check()
    frame.get_by_role("button", name="Link").click()
    expect(frame.get_by_text("Taken over")).to_be_visible()
    (answer,) = platform.chosen
    said = jwt.decode(answer, options={"verify_signature": False})
    assert [each["title"] for each in said[ITEMS]] == ["Sums"]

    context.clear_cookies()
    platform.users["student"]["https://purl.imsglobal.org/spec/lti/claim/custom"] = said[ITEMS][0]["custom"]
    page.goto(f"{platform.url}/course?hint=student&framed=1&site={served.url}")
    with context.expect_page() as opened:
        page.frame_locator("iframe").get_by_role("button", name="Open gpujudge").click()
    window = opened.value
    window.get_by_label("User name").fill("gauss")
    window.get_by_role("button", name="Create the account").click()
    expect(window.get_by_role("heading", name="Sums")).to_be_visible()
    expect(window.get_by_text("Vector Add")).to_be_visible()


def test_a_course_is_connected_from_a_frame_in_a_window_of_its_own(
    served: Served, platform: LtiPlatform, context: BrowserContext
) -> None:
    platform.users = {"chooser": {"subject": "t-1", "role": INSTRUCTOR, **platform.deep_linking()}}
    page = context.new_page()
    page.goto(f"{platform.url}/course?hint=chooser&framed=1&site={served.url}")
    with context.expect_page() as opened:
        page.frame_locator("iframe").get_by_role("button", name="Connect").click()
    window = opened.value
    expect(window.get_by_role("heading", name="Choose an account")).to_be_visible()
    # The same address in the browser of somebody else, as a link that was passed on.
    assert context.browser is not None
    other = context.browser.new_context(base_url=served.url).new_page()
    other.goto(window.url)
    expect(other.get_by_text("Open the link in your course yourself")).to_be_visible()
    other.context.close()
