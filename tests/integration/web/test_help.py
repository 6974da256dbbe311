"""Help pages, the API's page, and what robots, browsers and other sites ask for."""

from __future__ import annotations

import io
import re
from urllib.parse import urlsplit

import pytest
from PIL import Image

from tests.web_site import Site
from web.help.documents import DOCUMENTS, render_document

SLUGS = [document.slug for document in DOCUMENTS]


@pytest.mark.parametrize("slug", SLUGS)
def test_a_document_is_a_page_whose_links_lead_somewhere(site: Site, slug: str) -> None:
    client = site.app.test_client()
    page = client.get(f"/help/{slug}").text
    article = page.split('<article class="prose panel">')[1].split("</article>")[0]
    anchors = set(re.findall(r'<h\d id="([^"]+)"', article))
    assert anchors
    assert not re.findall(r"<th[^>]*></th>", article), "a screen reader reads out the heads of columns"
    for target in re.findall(r'href="([^"]+)"', article):
        address = urlsplit(target)
        if address.scheme:
            continue
        if address.path:
            assert client.get(f"/help/{address.path}").status_code == 200, target
            anchors_there = set(re.findall(r'<h\d id="([^"]+)"', str(render_document(address.path).html)))
        else:
            anchors_there = anchors
        assert not address.fragment or address.fragment in anchors_there, target


def test_every_document_is_listed(site: Site) -> None:
    text = site.app.test_client().get("/help/").text
    assert all(f'href="/help/{slug}"' in text for slug in SLUGS)


def test_html_within_a_document_is_text() -> None:
    from web.statement import markdown_renderer

    assert "<script>" not in markdown_renderer().render("<script>alert(1)</script>")


def test_a_table_scrolls_by_itself_and_its_figures_stand_on_the_right() -> None:
    html = str(render_document("ladders").html)
    assert (
        html.count("<table>")
        == html.count('<div class="table-wrap" tabindex="0"><table>')
        == html.count("</table></div>")
    )
    assert '<td class="number">' in html
    assert "style=" not in html


def test_the_api_page_has_every_operation(site: Site) -> None:
    client = site.app.test_client()
    document = client.get("/api/v1/openapi.json").get_json()
    page = client.get("/help/api").text
    operations = [(method.upper(), path) for path, item in document["paths"].items() for method in item]
    shown = re.findall(r'<b class="mono">([A-Z]+)</b> <code>([^<]+)</code>', page)
    assert sorted(shown) == sorted(operations)
    assert "curl http://localhost/api/v1/challenges" in page
    assert "--json &#39;{&#34;" in page


def test_robots_are_told_where_to_begin(site: Site) -> None:
    client = site.app.test_client()
    robots = client.get("/robots.txt").text
    assert "Disallow: /account/\n" in robots
    address = re.search(r"Sitemap: (\S+)", robots)
    assert address is not None
    pages = re.findall(r"<loc>http://localhost([^<]+)</loc>", client.get(urlsplit(address[1]).path).text)
    assert "/challenges/vector-add" in pages
    assert all(client.get(page).status_code == 200 for page in ("/", *(f"/help/{slug}" for slug in SLUGS)))
    closed = re.findall(r"Disallow: (\S+)", robots)
    assert not [page for page in pages if page.startswith(tuple(closed))]


def test_links_to_a_challenge_have_a_picture(site: Site) -> None:
    client = site.app.test_client()
    page = client.get("/challenges/vector-add").text
    address = re.search(r'property="og:image" content="http://localhost([^"]+)"', page)
    assert address is not None
    picture = Image.open(io.BytesIO(client.get(address[1]).data))
    assert (picture.format, picture.size) == ("PNG", (1200, 630))
    assert picture.getcolors(1 << 20) != Image.open(io.BytesIO(client.get("/picture.png").data)).getcolors(1 << 20)
    assert client.get("/challenges/nothing/picture.png").status_code == 404


def test_there_is_an_icon(site: Site) -> None:
    icon = Image.open(io.BytesIO(site.app.test_client().get("/favicon.ico").data))
    assert icon.format == "ICO"
    assert (32, 32) in icon.info["sizes"]
