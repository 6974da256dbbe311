from __future__ import annotations

import io
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from judge.judgement import BuildReport
from store.models import Submission
from tests.web_site import EMULATOR, H200, KERNEL, Site, accepted, faulty, make_site, on_emulator, post, timed, wrong

PAGE = "/challenges/vector-add"
JSON = {"Accept": "application/json"}


def _submit(site: Site, username: str = "ada", source: str = KERNEL, **fields: str) -> str:
    data = {"source": source, "device": "emulator", "mode": "submit", **fields}
    answer = post(site.visitor(username), f"{PAGE}/submissions", data, page=PAGE, headers=JSON)
    assert answer.status_code == 201, answer.text
    return str(answer.get_json()["id"])


def test_the_list_shows_what_there_is_and_what_is_solved(site: Site) -> None:
    assert "Solved by you" not in site.visitor().get("/").text
    _submit(site)
    site.work(cases=accepted("a"), measurement=on_emulator())
    page = site.visitor().get("/").text
    assert "Vector addition" in page
    assert "Solved by you" in page
    assert "Emulator" in page


def test_a_run_of_the_public_cases_solves_nothing(site: Site) -> None:
    _submit(site, mode="run")
    site.work(cases=accepted("a"))
    assert "Solved by you" not in site.visitor().get("/").text


def test_a_challenge_page_has_statement_starter_and_devices(site: Site) -> None:
    page = site.app.test_client().get(PAGE).text
    assert '<div class="math block">' in page
    assert "void solve(const float* A" in page
    assert '<option value="emulator">Emulator</option>' in page
    assert 'data-log-in="/account/log-in?next=/challenges/vector-add&amp;to=run"' in page
    assert site.app.test_client().get(f"{PAGE}/starter").text.startswith("// Vector addition")


def test_a_submission_is_followed_and_reported(site: Site) -> None:
    public_id = _submit(site)
    client = site.visitor()
    waiting = client.get(f"/submissions/{public_id}").text
    assert f'data-events="/submissions/{public_id}/events"' in waiting
    stream = client.get(f"/submissions/{public_id}/events", headers={"Accept": "text/event-stream"}, buffered=False)
    assert stream.mimetype == "text/event-stream"
    assert stream.headers["Cache-Control"] == "no-store"
    assert next(iter(stream.response)) == b"event: hello\ndata: {}\n\n"
    assert site.services.streams.open == 1
    stream.close()
    assert site.services.streams.open == 0
    site.work(cases=(*accepted("n-1"), faulty("n-33", line=3)))
    events = client.get(f"/submissions/{public_id}/events?after=3", headers=JSON).get_json()
    assert [event["kind"] for event in events] == ["running", "case", "case", "done"]
    report = client.get(f"/submissions/{public_id}").text
    assert "Runtime error" in report or "runtime error" in report
    assert '<a href="#L3" data-line="3">line 3</a>' in report
    assert re.search(r'<li id="L3" data-line="3" class="marked">.*out-of-bounds write', report)
    assert "data-events" not in report
    assert "out-of-bounds write" in client.get(f"/submissions/{public_id}/report").text


def test_a_mismatch_and_compiler_output_are_shown(site: Site) -> None:
    first = _submit(site)
    site.work(cases=(wrong(),))
    page = site.visitor().get(f"/submissions/{first}").text
    assert "2 of 100 elements of C are wrong" in page
    assert "C[17]" in page
    second = _submit(site, source=KERNEL + "// other\n")
    site.work(build=BuildReport(ok=False, wall_s=0.3, log='kernel.cu(3): error: expected a ";"\n'))
    page = site.visitor().get(f"/submissions/{second}").text
    assert "kernel.cu(3): error: expected a" in page
    assert re.search(r'<li id="L3" data-line="3" class="marked">', page)


def test_source_is_shown_as_text_and_downloaded_as_it_was(site: Site) -> None:
    hostile = "// </code><script>alert(1)</script>\n"
    public_id = _submit(site, source=hostile)
    client = site.visitor()
    assert "<script>alert" not in client.get(f"/submissions/{public_id}").text
    download = client.get(f"/submissions/{public_id}/kernel.cu")
    assert download.data == hostile.encode()
    assert "attachment" in download.headers["Content-Disposition"]


def test_a_file_counts_instead_of_the_editor_and_is_kept_byte_for_byte(site: Site) -> None:
    client = site.visitor()
    sent = b"\xff\x00 not text\r\n"
    data = {"source": "ignored", "device": "emulator", "mode": "submit", "file": (io.BytesIO(sent), "kernel.cu")}
    answer = post(client, f"{PAGE}/submissions", data, page=PAGE)
    assert answer.status_code == 303
    assert client.get(f"{answer.headers['Location']}/kernel.cu").data == sent
    assert client.get(answer.headers["Location"]).status_code == 200


def test_chosen_files_are_one_source(site: Site) -> None:
    client = site.visitor()

    def chosen(**files: bytes) -> dict[str, Any]:
        sent = [(io.BytesIO(content), name.replace("_", ".")) for name, content in files.items()]
        return {"source": "", "device": "emulator", "mode": "submit", "file": sent}

    answer = post(client, f"{PAGE}/submissions", chosen(tile_cuh=b"#pragma once\n", add_cu=KERNEL.encode()), page=PAGE)
    assert answer.status_code == 303
    page = client.get(answer.headers["Location"]).text
    assert "// gpujudge: file=tile.cuh" in page
    # The header's first line is the line of this number of the whole, and is called 1.
    assert f'<a href="#L{len(KERNEL.splitlines()) + 2}">1</a>' in page
    refused = post(client, f"{PAGE}/submissions", chosen(a_cuh=b"", b_cuh=b""), page=PAGE)
    assert refused.status_code == 422
    assert "None of the files is a .cu file" in refused.text


def test_line_ends_of_a_form_are_those_that_were_typed(site: Site) -> None:
    public_id = _submit(site, source="a\r\nb\r\n")
    assert site.visitor().get(f"/submissions/{public_id}/kernel.cu").data == b"a\nb\n"


def test_a_submission_is_its_owners_alone(site: Site) -> None:
    public_id = _submit(site, "ada")
    eve = site.visitor("eve")
    token = {"Authorization": f"Bearer {site.token_of('eve')}"}
    for path in ("", "/report", "/kernel.cu", "/events"):
        assert eve.get(f"/submissions/{public_id}{path}").status_code == 404
    assert post(eve, f"/submissions/{public_id}/cancel", {}, page="/account/").status_code == 404
    for path in ("", "/events"):
        assert eve.get(f"/api/v1/submissions/{public_id}{path}", headers=token).status_code == 404
    assert eve.post(f"/api/v1/submissions/{public_id}/cancel", headers=token).status_code == 404
    assert site.submission(public_id).state == "queued"
    assert site.app.test_client().get(f"/submissions/{public_id}").status_code == 302


def test_cancelling(site: Site) -> None:
    public_id = _submit(site)
    client = site.visitor()
    answer = post(client, f"/submissions/{public_id}/cancel", {}, page="/account/")
    assert answer.status_code == 303
    assert "It was not judged" in client.get(f"/submissions/{public_id}").text


def test_pressing_twice_is_one_submission(site: Site) -> None:
    first = _submit(site, idempotency_key="k1")
    assert _submit(site, idempotency_key="k1") == first
    data = {"source": "other", "device": "emulator", "mode": "submit", "idempotency_key": "k1"}
    assert post(site.visitor(), f"{PAGE}/submissions", data, page=PAGE, headers=JSON).status_code == 409


def test_unknown_names_get_the_nearest(site: Site) -> None:
    page = site.app.test_client().get("/challenges/vector-ad")
    assert page.status_code == 404
    assert 'href="/challenges/vector-add"' in page.text
    data = {"source": KERNEL, "device": "emulatr", "mode": "submit"}
    answer = post(site.visitor(), f"{PAGE}/submissions", data, page=PAGE, headers=JSON)
    assert answer.status_code == 404
    assert answer.get_json()["nearest"] == ["emulator"]


def test_a_source_that_is_too_large_is_refused_with_its_size(site: Site) -> None:
    data = {"source": "x" * (256 * 1024 + 1), "device": "emulator", "mode": "submit"}
    answer = post(site.visitor(), f"{PAGE}/submissions", data, page=PAGE, headers=JSON)
    assert answer.status_code == 413
    assert "262,145 bytes" in answer.get_json()["detail"]
    data["source"] = "x" * (3 << 20)
    page = post(site.visitor(), f"{PAGE}/submissions", data, page=PAGE)
    assert page.status_code == 413
    assert "256 KiB" in page.text
    _submit(site, source="\n" * (256 * 1024))


def test_what_is_wrong_inside_the_source_is_for_the_compiler_to_say(site: Site) -> None:
    for source in ("", "\x00", "int main() {}"):
        public_id = _submit(site, source=source)
        assert site.visitor().get(f"/submissions/{public_id}").status_code == 200


def test_submissions_need_the_pages_token(site: Site) -> None:
    client = site.visitor()
    answer = client.post(f"{PAGE}/submissions", data={"source": KERNEL, "device": "emulator", "mode": "submit"})
    assert answer.status_code == 400
    with site.database() as session:
        assert session.query(Submission).count() == 0


def test_submissions_are_limited_per_user(data_dir: Path) -> None:
    site = make_site(data_dir, submission_rate="2 per hour")
    site.add_device()
    for number in range(2):
        _submit(site, source=f"// {number}")
    data = {"source": KERNEL, "device": "emulator", "mode": "submit"}
    assert post(site.visitor(), f"{PAGE}/submissions", data, page=PAGE, headers=JSON).status_code == 429
    token = {"Authorization": f"Bearer {site.token_of('ada')}"}
    body = {"challenge": "vector-add", "device": "emulator", "source": KERNEL}
    answer = site.app.test_client().post("/api/v1/submissions", json=body, headers=token)
    assert answer.status_code == 429
    assert answer.get_json()["code"] == "rate_limited"
    _submit(site, "bob")


def test_own_submissions_are_listed_by_page(site: Site) -> None:
    assert "Nothing submitted yet" in site.visitor().get("/submissions").text
    ids = [_submit(site, source=f"// {number}") for number in range(32)]
    client = site.visitor()
    first = client.get("/submissions").text
    assert ids[-1] in first
    assert ids[1] not in first
    (older,) = re.findall(r'href="(/submissions\?[^"]*before=[^"]*)"', first)
    assert ids[1] in client.get(older.replace("&amp;", "&")).text
    assert ids[-1] not in client.get("/submissions?challenge=other").text


def test_leaderboards_rank_and_say_what_they_measure(site: Site) -> None:
    assert "Nobody is on this board yet" in site.app.test_client().get("/leaderboards/vector-add").text
    for username, value in (("ada", 2e-3), ("bob", 1e-3)):
        _submit(site, username)
        site.work(cases=accepted("a"), measurement=on_emulator(value))
    page = site.visitor("ada").get("/leaderboards/vector-add?device=emulator").text
    assert page.index("bob") < page.rindex("ada")
    assert "Modelled time" in page
    assert "model of the NVIDIA H200" in page
    site.add_device(H200)
    _submit(site, "eve", device="nvidia-h200")
    site.work(device=H200, cases=accepted("a"), measurement=timed())
    page = site.app.test_client().get("/leaderboards/vector-add?device=nvidia-h200").text
    assert "0.1250" in page
    assert "3,210" in page
    index = site.app.test_client().get("/leaderboards/").text
    assert "1.00 ms" in index
    assert "125 µs" in index
    assert site.app.test_client().get("/leaderboards/vector-add?device=nope").status_code == 404


def test_a_device_that_is_away_can_be_waited_for_but_not_for_ever(site: Site) -> None:
    site.add_device(H200, seen=site.services.clock() - timedelta(hours=2))
    page = site.app.test_client().get(PAGE).text
    assert "NVIDIA H200 (away: will wait)" in page
    site.add_device(H200, seen=site.services.clock() - timedelta(days=8))
    assert "NVIDIA H200" not in site.app.test_client().get(PAGE).text


def test_without_devices_the_page_says_how_to_get_one(data_dir: Path) -> None:
    site = make_site(data_dir)
    assert "make run" in site.app.test_client().get(PAGE).text
    board = site.app.test_client().get("/leaderboards/vector-add").text
    assert f"device={EMULATOR.key}" not in board
    assert EMULATOR.name not in board


@pytest.mark.parametrize("path", ["/submissions?before=%00", "/leaderboards/vector-add?device=%00", "/challenges/%00"])
def test_strange_bytes_break_nothing(site: Site, path: str) -> None:
    assert site.visitor().get(path).status_code in {200, 400, 404}
