"""The pages on what makes kernels slow, and the editor that opens with their kernels."""

from __future__ import annotations

import pytest

from emulator.model.why import TOPICS
from tests.web_site import Site
from web.bottlenecks.page import PAGES


def test_every_topic_of_a_profile_has_a_page() -> None:
    assert {page.slug for page in PAGES} == set(TOPICS.values())


@pytest.mark.parametrize("slug", [page.slug for page in PAGES])
def test_a_page_shows_both_kernels(site: Site, slug: str) -> None:
    text = site.app.test_client().get(f"/bottlenecks/{slug}").text
    for which in ("before", "after"):
        assert f"example={slug}/{which}" in text
    assert "__global__" in text
    assert "How to see it" in text
    assert "In Triton" in text


def test_the_list_leads_to_all(site: Site) -> None:
    text = site.app.test_client().get("/bottlenecks/").text
    assert all(f'href="/bottlenecks/{page.slug}"' in text for page in PAGES)


def test_the_editor_opens_with_a_kernel_of_its_own_challenge_only(site: Site) -> None:
    own = site.app.test_client().get("/challenges/vector-add?example=tail/before").text
    assert "add&lt;&lt;&lt;1, 1024&gt;&gt;&gt;" in own
    assert "data-edited" in own
    for other in ("coalescing/before", "tail/later", "tail", "no/before", "../tail/before"):
        assert "data-edited" not in site.app.test_client().get(f"/challenges/vector-add?example={other}").text


def test_an_unknown_bottleneck_is_not_found(site: Site) -> None:
    assert site.app.test_client().get("/bottlenecks/nothing").status_code == 404
