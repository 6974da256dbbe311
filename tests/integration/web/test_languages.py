"""The site offers the languages that its workers build, and says what to do about the others."""

from __future__ import annotations

from store.languages import tell_languages
from tests.web_site import KERNEL, Site, post

PYTHON = "def solve(A, B, C, N):\n    pass\n"


def test_a_language_that_no_worker_builds_is_not_taken(site: Site) -> None:
    ada, page, now = site.visitor(), "/challenges/vector-add", site.services.clock()
    data = {"source": PYTHON, "device": "emulator", "mode": "run", "language": "triton"}

    def offered() -> bool:
        (found,) = [
            each for each in ada.get("/api/v1/challenges/vector-add").json["languages"] if each["name"] == "triton"
        ]
        assert ("pip install 'gpujudge[triton]'" in found["missing"]) is bool(found["missing"])
        return not found["missing"]

    with site.database() as session:
        tell_languages(session, ["cuda"], owner="a", now=now)
    assert not offered()
    assert '<option value="triton" disabled>Triton (not installed here)</option>' in ada.get(page).text
    refused = post(ada, f"{page}/submissions", data, page=page)
    assert refused.status_code == 422
    assert "No worker of this site builds Triton: pip install" in refused.text
    assert "then restart the workers" in refused.text
    assert (
        post(ada, f"{page}/submissions", {**data, "source": KERNEL, "language": "cuda"}, page=page).status_code == 303
    )
    # One of two workers has it.
    with site.database() as session:
        tell_languages(session, ["cuda", "triton"], owner="b", now=now)
    assert offered()
    assert '<option value="triton">Triton</option>' in ada.get(page).text
    assert post(ada, f"{page}/submissions", data, page=page).status_code == 303
