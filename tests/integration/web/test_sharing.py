"""A link to a submission: private until shared, for everybody then, and gone once it is revoked."""

from __future__ import annotations

import re

import pytest

from tests.web_site import KERNEL, Site, accepted, post, timed

CHALLENGE = "/challenges/vector-add"


@pytest.fixture
def page(site: Site) -> str:
    """The path of a judged submission of ada."""
    data = {"source": KERNEL, "device": "emulator", "mode": "submit"}
    sent = post(site.visitor(), f"{CHALLENGE}/submissions", data, page=CHALLENGE)
    site.work(cases=accepted("n-1"), measurement=timed())
    return str(sent.location)


def _share(site: Site, page: str, **fields: str) -> str | None:
    """Sends the form and returns the path of the link that the page shows then."""
    client = site.visitor()
    assert post(client, f"{page}/share", fields, page=page).status_code == 303
    found = re.search(r"http://localhost(/shared/[\w-]+)", client.get(page).text)
    return None if found is None else found[1]


def test_everybody_sees_what_is_shared_and_nothing_that_its_user_may_do(site: Site, page: str) -> None:
    link = _share(site, page)
    assert link is not None
    for client in (site.app.test_client(), site.visitor("bob")):
        shown = client.get(link)
        assert shown.status_code == 200
        assert "shared by ada" in shown.text
        assert "The right answer" in shown.text
        assert "cuda_runtime.h" in shown.text
        assert page not in shown.text
        assert '/share"' not in shown.text
        assert client.get(f"{link}/kernel.cu").data == KERNEL.encode()
        assert client.get(page).status_code in (302, 404)


def test_sharing_twice_keeps_the_link(site: Site, page: str) -> None:
    assert _share(site, page) == _share(site, page)


def test_a_revoked_link_is_gone_and_a_new_one_is_another(site: Site, page: str) -> None:
    first = _share(site, page)
    assert first is not None
    assert _share(site, page, revoke="1") is None
    answer = site.app.test_client().get(first)
    assert answer.status_code == 404
    assert "the link was revoked, or is not whole" in answer.text
    assert _share(site, page) not in (None, first)


def test_nobody_shares_what_belongs_to_another(site: Site, page: str) -> None:
    assert post(site.visitor("bob"), f"{page}/share", {}, page="/submissions").status_code == 404
    assert site.submission(page.rsplit("/", 1)[1]).share_token is None
