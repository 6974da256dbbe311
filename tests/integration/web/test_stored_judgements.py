"""Every page, the API and the command line show judgements as databases hold them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import text

from cli.render import lines
from judge.judgement import BuildReport, Judgement
from judge.judgement_json import read_judgement, read_measurement
from judge.verdict import Verdict
from store.boards.audits import AuditedBoard, claim_board, contenders, finish_audit
from store.boards.scores import record_measurement
from store.models import Submission
from store.people.accounts import find_user
from store.submissions import create_submission
from tests.stored_judgements import STORED, load_stored
from tests.unit.judge.test_judgement_json import assert_contains
from tests.web_site import H200, KERNEL, Site


def enter(site: Site, stored: dict[str, Any]) -> str:
    """A finished submission whose row holds the JSON, and its place on the board."""
    site.add_device()
    site.add_device(H200)
    site.add_user("ada")
    now = site.services.clock()
    with site.database() as session:
        user = find_user(session, "ada")
        assert user is not None
        pack = site.services.all_packs["vector-add"]
        device = stored["device"]["key"]
        made = create_submission(session, user=user, pack=pack, device_key=device, mode="submit", source=KERNEL)
        made.state, made.verdict, made.finished_at = "done", stored["verdict"], now
        made.job.state = "done"
        session.flush()
        session.execute(
            text("UPDATE submissions SET judgement = :json WHERE id = :id"), {"json": json.dumps(stored), "id": made.id}
        )
        record_measurement(session, made, read_judgement(stored), now=now)
        return made.public_id


@pytest.mark.parametrize("name", STORED)
def test_everything_shows_it(site: Site, name: str) -> None:
    stored = load_stored(name)
    public_id = enter(site, stored)
    client = site.visitor("ada")
    verdict = Verdict(stored["verdict"]).in_words
    for path in (f"/submissions/{public_id}", f"/submissions/{public_id}/report"):
        page = client.get(path)
        assert page.status_code == 200
        assert verdict in page.text
    assert client.get("/submissions").status_code == 200

    headers = {"Authorization": f"Bearer {site.token_of('ada')}"}
    [listed] = client.get("/api/v1/submissions", headers=headers).get_json()["submissions"]
    assert listed == client.get(f"/api/v1/submissions/{public_id}", headers=headers).get_json()
    assert_contains(listed["judgement"], stored)

    key = stored["device"]["key"]
    board = site.app.test_client().get(f"/leaderboards/vector-add?device={key}")
    entries = client.get(f"/api/v1/leaderboards/vector-add?device={key}").get_json()["entries"]
    assert board.status_code == 200
    measurement = stored["measurement"]
    assert (">ada</a>" in board.text) == (len(entries) == 1) == (measurement is not None)
    if measurement is not None:
        assert entries[0]["value"] == measurement["value"]
        assert_contains(entries[0]["fingerprint"] or {}, measurement.get("fingerprint", {}))

    rendered = "\n".join(line.plain for line in lines(read_judgement(listed["judgement"])))
    assert rendered.startswith(f"{stored['verdict']}  {verdict}")
    assert ("score" in rendered) == (measurement is not None)


@pytest.mark.parametrize("name", ["v3_replayed", "v3_not_replayed"])
def test_everything_shows_an_audit_of_it(site: Site, name: str) -> None:
    stored = load_stored(name)
    public_id = enter(site, stored)
    board = AuditedBoard("vector-add", H200.key, site.services.all_packs["vector-add"].major)
    now = site.services.clock()
    with site.database() as session:
        lease = claim_board(session, board, owner="test", now=now)
        [contender] = contenders(session, board)
        measured = read_measurement(stored["measurement"])
        report = BuildReport(ok=True, wall_s=0.1)
        found = Judgement(Verdict.ACCEPTED, "vector-add", "1.0.0", H200, report, measurement=measured)
        assert finish_audit(session, lease, {contender.submission_id: found}, now=now, pause_s=0)
        kept = session.execute(text("SELECT measurement FROM audits")).scalar_one()
        assert (json.loads(kept) if isinstance(kept, str) else kept) == stored["measurement"]
    title = "Audited" if name == "v3_replayed" else "Not audited"
    assert title in site.visitor("ada").get(f"/submissions/{public_id}").text
    headers = {"Authorization": f"Bearer {site.token_of('ada')}"}
    status = site.app.test_client().get(f"/api/v1/submissions/{public_id}", headers=headers).get_json()
    assert status["audit"]["measurement"] == stored["measurement"]


def test_what_is_stored_of_a_new_judgement_says_its_version(site: Site) -> None:
    public_id = enter(site, load_stored("v3_replayed"))
    with site.database() as session:
        submission = session.query(Submission).filter_by(public_id=public_id).one()
        assert submission.judgement is not None
        submission.judgement = read_judgement(load_stored("v3_modelled_time"))
        session.flush()
        kept = session.execute(text("SELECT judgement FROM submissions")).scalar_one()
    assert (json.loads(kept) if isinstance(kept, str) else kept) == load_stored("v3_modelled_time")
