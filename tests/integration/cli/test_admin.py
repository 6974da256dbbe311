"""The operators' commands, on a real database, and what the site does then."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cli.app import app
from cli.commands import served_challenges
from judge.gpu.calibration import Calibration
from store.devices import record_board
from tests.web_site import EMULATOR, H200, KERNEL, Site, accepted, make_site, post, timed


@pytest.fixture
def site(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setenv("GPUJUDGE_DATA_DIR", str(data_dir))
    return make_site(data_dir)


def _admin(*argv: str) -> Result:
    return CliRunner().invoke(app, ["admin", *argv])


def test_a_notice_is_posted_listed_and_ended(site: Site) -> None:
    client = site.app.test_client()
    posted = json.loads(_admin("notice", "post", "Maintenance", "--warning", "--json").stdout)
    assert (posted["state"], posted["kind"]) == ("shown", "warning")
    assert "Maintenance" in client.get("/").text
    assert _admin("notice", "end", str(posted["id"])).exit_code == 0
    assert "Maintenance" not in client.get("/").text
    (listed,) = json.loads(_admin("notice", "list", "--json").stdout)["notices"]
    assert listed["state"] == "ended"
    assert "Maintenance" in _admin("notice", "list").stdout
    assert "no notice 1 that has not ended" in str(_admin("notice", "end", "1").exception)


def test_a_notice_of_the_future_is_planned_and_one_of_the_past_refused(site: Site) -> None:
    told = _admin("notice", "post", "Soon", "--from", "2999-01-01", "--until", "2999-01-02 12:30", "--json").stdout
    posted = json.loads(told)
    assert (posted["state"], posted["ends_at"]) == ("planned", "2999-01-02T12:30:00+00:00")
    assert "Soon" not in site.app.test_client().get("/").text
    assert "in the future" in str(_admin("notice", "post", "Gone", "--until", "2001-01-01").exception)


def test_a_setting_is_changed_and_reset(site: Site) -> None:
    client = site.app.test_client()
    assert _admin("setting", "set", "sign_up", "closed").exit_code == 0
    assert client.get("/account/sign-up").status_code == 403
    rows = {row["name"]: row for row in json.loads(_admin("setting", "list", "--json").stdout)["settings"]}
    assert (rows["sign_up"]["value"], rows["sign_up"]["environment"]) == ("closed", "open")
    assert rows["max_waiting"]["value"] == rows["max_waiting"]["environment"] == 100
    assert _admin("setting", "reset", "sign_up").exit_code == 0
    assert client.get("/account/sign-up").status_code == 200


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("sign_up", "shut", "sign_up: Input should be 'open', 'invitation' or 'closed'"),
        ("max_waiting", "-1", "max_waiting: Input should be greater than or equal to 0"),
        ("submission_rate", "often", "submission_rate: write a rate such as"),
        ("secret_key", "mine", "secret_key is not a setting that changes while the site runs. There are: sign_up,"),
    ],
)
def test_a_value_that_a_setting_cannot_have_is_refused(site: Site, name: str, value: str, said: str) -> None:
    ended = _admin("setting", "set", "--", name, value)
    assert said in str(ended.exception)
    assert json.loads(_admin("setting", "list", "--json").stdout)["settings"][0]["value"] == "open"
    assert site.app.test_client().get("/account/sign-up").status_code == 200


def test_a_device_is_held_and_released_and_the_log_tells(site: Site) -> None:
    site.add_device()
    assert _admin("device", "hold", "emulator", "a fan is loud").exit_code == 0
    assert "held already: a fan is loud" in str(_admin("device", "hold", "emulator", "again").exception)
    (row,) = json.loads(_admin("device", "list", "--json").stdout)["devices"]
    assert (row["key"], row["held"]) == ("emulator", "a fan is loud")
    assert "a fan is loud" in _admin("device", "list").stdout
    measured = Calibration("a", "CPU", "550.1", "2026-01-01T00:00:00+00:00", 4e12, 3e12, {"fp32": 6e13})
    with site.database() as session:
        record_board(session, EMULATOR, "a", problem="Xid 79", calibration=measured, now=site.services.clock())
    assert "a: Xid 79, since" in " ".join(_admin("device", "list").stdout.split())
    (found,) = json.loads(_admin("device", "calibrations", "emulator", "--json").stdout)["calibrations"]
    assert (found["driver"], found["copy_bytes_per_s"]) == ("550.1", 3e12)
    assert "4,000 GB/s" in _admin("device", "calibrations", "emulator").stdout
    assert _admin("device", "release", "emulator").exit_code == 0
    assert "no worker has offered a device toaster" in str(_admin("device", "release", "toaster").exception)
    assert "give a reason" in str(_admin("device", "hold", "emulator", " ").exception)
    logged = json.loads(_admin("log", "device emulator", "--json").stdout)["actions"]
    assert [(one["action"], one["details"]) for one in logged] == [
        ("release", {"held_for": "a fan is loud"}),
        ("hold", {"reason": "a fan is loud"}),
    ]
    assert json.loads(_admin("log", "--before", str(logged[1]["id"]), "--json").stdout)["actions"] == []
    assert len(json.loads(_admin("log", "--limit", "1", "--json").stdout)["actions"]) == 1
    assert "held for: a fan is loud" in " ".join(_admin("log").stdout.split())


def test_submissions_are_listed_cancelled_judged_again_and_taken_off_their_board(site: Site) -> None:
    site.add_device(H200)
    sent = _send(site, "ada")
    (job,) = json.loads(_admin("queue", "--json").stdout)["jobs"]
    assert (job["public_id"], job["username"], job["state"], job["worker"]) == (sent, "ada", "queued", None)
    assert "vector-add" in _admin("queue").stdout
    assert "not judged yet" in str(_admin("submission", "rejudge", sent, "early").exception)
    site.work(device=H200, cases=accepted("n-1"), measurement=timed())
    assert "has ended already" in str(_admin("submission", "cancel", sent).exception)
    assert _admin("submission", "off-board", sent, "copied").exit_code == 0
    (row,) = json.loads(_admin("submission", "list", "--user", "ADA", "-c", "vector-add", "--json").stdout)[
        "submissions"
    ]
    assert (row["id"], row["verdict"], row["off_board"]) == (sent, "AC", "copied")
    assert "copied" in _admin("submission", "list", "--verdict", "ac").stdout
    assert json.loads(_admin("submission", "list", "--verdict", "WA", "--json").stdout)["submissions"] == []
    assert _admin("submission", "on-board", sent).exit_code == 0
    assert site.submission(sent).off_board is None
    assert "was not kept" in str(_admin("submission", "rejudge", sent, "a driver", "--same-version").exception)
    assert _admin("submission", "rejudge", sent, "a driver").exit_code == 0
    assert site.submission(sent).state == "queued"
    assert _admin("submission", "cancel", sent).exit_code == 0
    assert site.submission(sent).state == "cancelled"
    assert "there is no submission nothing" in str(_admin("submission", "cancel", "nothing").exception)
    assert "there is no user nobody" in str(_admin("submission", "list", "--user", "nobody").exception)
    assert "give a reason" in str(_admin("submission", "off-board", sent, " ").exception)
    logged = json.loads(_admin("log", f"submission {sent}", "--json").stdout)["actions"]
    assert [one["action"] for one in logged] == ["cancel", "rejudge", "on board", "off board"]


def test_what_a_challenge_judged_is_judged_again_in_parts(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served_challenges, "_BATCH", 1)
    site.add_device(H200)
    sent = [_send(site, "ada"), _send(site, "bob")]
    for _ in sent:
        site.work(device=H200, cases=accepted("n-1"), measurement=timed())
    again = ("challenge", "rejudge", "vector-add", "a new driver")
    assert json.loads(_admin(*again, "--json").stdout) == {"judged_again": 0}
    assert json.loads(_admin(*again, "--all", "--version", "0.0.1", "--json").stdout) == {"judged_again": 0}
    assert json.loads(_admin(*again, "--all", "--json").stdout) == {"judged_again": 2}
    assert [site.submission(one).state for one in sent] == ["queued", "queued"]
    assert "there is no challenge 'nothing'" in str(_admin("challenge", "rejudge", "nothing", "x").exception)
    assert "give a reason" in str(_admin("challenge", "rejudge", "vector-add", " ").exception)


def test_what_the_site_serves_is_listed(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = {one["slug"]: one for one in json.loads(_admin("challenge", "list", "--json").stdout)["challenges"]}
    assert served["vector-add"]["digest"] == site.services.all_packs["vector-add"].digest
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "challenge.toml").write_text("schema = 2\n")
    monkeypatch.setenv("GPUJUDGE_PACK_PATHS", str(tmp_path))
    told = _admin("challenge", "list")
    assert "not loaded: " in told.output
    assert "broken" in told.output


def _send(site: Site, name: str) -> str:
    data = {"source": KERNEL, "device": H200.key, "mode": "submit"}
    page = "/challenges/vector-add"
    return str(post(site.visitor(name), f"{page}/submissions", data, page=page).location).rsplit("/", 1)[1]
