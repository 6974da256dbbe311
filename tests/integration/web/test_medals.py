"""Medals on the submission's page, on the board and in the API."""

from __future__ import annotations

from judge.packs.medals import Medals
from tests.web_site import H200, KERNEL, Site, accepted, post, trusted

CHALLENGE = "/challenges/vector-add"


def submit(site: Site, username: str, value: float) -> str:
    data = {"source": KERNEL, "device": H200.key, "mode": "submit"}
    sent = post(site.visitor(username), f"{CHALLENGE}/submissions", data, page=CHALLENGE)
    site.work(device=H200, cases=accepted("a"), measurement=trusted(value))
    return site.visitor(username).get(sent.headers["Location"]).text


def test_a_share_of_the_roofline_earns_a_medal_everywhere(site: Site) -> None:
    site.add_device(H200)
    medals = site.services.all_packs["vector-add"].medals_for("time_s")
    assert medals is not None
    for username, value in (("ada", 1.0e-4), ("bob", 1.6e-4), ("eve", 9e-4)):
        page = submit(site, username, value)
        medal = medals.earned(0.9e-4 / value)
        assert (f'<span class="medal {medal}"' in page) == (medal is not None)
    board = site.app.test_client().get(f"/leaderboards/vector-add?device={H200.key}").text
    assert ("medal small gold" in board, "medal small silver" in board) == (True, True)
    assert "medal small bronze" not in board
    entries = site.app.test_client().get(f"/api/v1/leaderboards/vector-add?device={H200.key}").json["entries"]
    assert [entry["medal"] for entry in entries] == ["gold", "silver", None]
    assert isinstance(medals, Medals)
