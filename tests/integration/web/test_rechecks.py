"""Findings on a submission that a GPU accepted: on its page, on the board, in the API, for operators."""

from __future__ import annotations

import re
from typing import Any

import pytest
from sqlalchemy import update

from judge.judgement import CaseJudgement, MemoryFault, RacingAccess
from judge.recheck import Recheck, conclude, unchecked
from judge.verdict import Verdict
from store.boards.rechecks import claim_recheck, fail_recheck, finish_recheck
from store.models import BoardTotals, Role
from store.operation.changed_settings import change_setting
from store.operation.operator_log import Actor
from store.people.accounts import find_user
from store.submissions import create_submission
from tests.integration.web.test_trusted_times import BOARD_PAGE, audit, replayed, rows
from tests.web_site import H200, KERNEL, Site, accepted, post, trusted

HEADLINE = "right by luck on this GPU: race on shared memory, lines 3 and 4"
FOUND = "Right by luck on this GPU</h2><p>Race on shared memory, lines 3 and 4."


def race() -> Recheck:
    other = RacingAccess("kernel.cu", 4, (1, 0, 0), (0, 0, 0), is_write=True)
    what = "race on shared memory"
    message = f"{what} at kernel.cu:3 in add, thread (0,0,0) of block (0,0,0): it reads"
    fault = MemoryFault(what, message, "add", "kernel.cu", 3, (0, 0, 0), (0, 0, 0), other)
    return conclude([CaseJudgement("n-33", "hidden", Verdict.ACCEPTED, 0.01, memory_errors=(fault,))], 1)


CLEAN = conclude([CaseJudgement("n-33", "hidden", Verdict.ACCEPTED, 0.01)], 1)


@pytest.fixture
def gpu_site(site: Site) -> Site:
    site.add_device(H200)
    return site


def enter(site: Site, username: str, value: float, found: Recheck | None) -> str:
    """The id of an accepted submission; what its check found, if that was made."""
    with site.database() as session:
        known = find_user(session, username) is not None
    if not known:
        site.add_user(username)
    with site.database() as session:
        user = find_user(session, username)
        assert user is not None
        pack, source = site.services.all_packs["vector-add"], f"// {value}\n{KERNEL}"
        made = create_submission(session, user=user, pack=pack, device_key=H200.key, mode="submit", source=source)
        public_id = made.public_id
    site.work(device=H200, cases=accepted("n-1"), measurement=trusted(value))
    if found is not None:
        check(site, found)
    return public_id


def check(site: Site, found: Recheck) -> None:
    """Make the oldest check that waits."""
    now = site.services.clock()
    with site.database() as session:
        lease = claim_recheck(session, owner="w", now=now, lease_s=60, max_failures=3, max_losses=3)
        assert lease is not None
        assert finish_recheck(session, lease, found, now=now)


def status(site: Site, public_id: str, username: str = "ada") -> Any:
    headers = {"Authorization": f"Bearer {site.token_of(username)}"}
    return site.app.test_client().get(f"/api/v1/submissions/{public_id}", headers=headers).get_json()


def board(site: Site) -> Any:
    return site.app.test_client().get("/api/v1/leaderboards/vector-add?device=nvidia-h200").get_json()["entries"]


def choose(site: Site, value: str) -> None:
    with site.database() as session:
        change_setting(session, Actor("root"), "withhold_audited", value, now=site.services.clock())


def test_the_page_waits_for_the_check_and_then_shows_it(gpu_site: Site) -> None:
    public_id, ada = enter(gpu_site, "ada", 1e-4, None), gpu_site.visitor("ada")
    page = ada.get(f"/submissions/{public_id}").text
    assert "To be checked on the emulator" in page
    assert f'data-recheck="/submissions/{public_id}/recheck"' in page
    assert status(gpu_site, public_id)["recheck"]["outcome"] == "waiting"
    check(gpu_site, race())
    part = ada.get(f"/submissions/{public_id}/recheck").text
    page = ada.get(f"/submissions/{public_id}").text
    for shown in (part, page):
        assert FOUND in shown
        assert re.search(r'data-line="3">line 3</a> and <a href="#L4"', shown)
        assert "data-recheck" not in shown
    assert "race on shared memory on the emulator: it reads" in page, "a note in the source"
    assert "accepted" in page
    assert gpu_site.visitor("eve").get(f"/submissions/{public_id}/recheck").status_code == 404
    told = status(gpu_site, public_id)["recheck"]
    assert (told["outcome"], told["result"]["headline"]) == ("found", HEADLINE)
    assert [finding["line"] for finding in told["result"]["findings"]] == [3]


def test_a_clean_and_an_unchecked_submission_say_so(gpu_site: Site) -> None:
    clean = enter(gpu_site, "ada", 1e-4, CLEAN)
    odd = enter(gpu_site, "bob", 2e-4, unchecked("the emulator does not support it", "case a: wgmma"))
    assert "Clean on the emulator" in gpu_site.visitor("ada").get(f"/submissions/{clean}").text
    page = gpu_site.visitor("bob").get(f"/submissions/{odd}").text
    assert "Unchecked by the emulator" in page
    assert "Case a: wgmma" in page
    shown = rows(gpu_site)
    assert ("unchecked" in shown[0], "unchecked" in shown[1]) == (False, True)


def test_what_is_found_keeps_an_entry_from_the_audited_mark_until_a_clean_version_comes(gpu_site: Site) -> None:
    racy = enter(gpu_site, "ada", 1.0e-4, race())
    enter(gpu_site, "bob", 1.2e-4, CLEAN)
    audit(gpu_site, {"ada": replayed(1.0e-4), "bob": replayed(1.2e-4)})
    first, second = rows(gpu_site)
    assert f'title="{HEADLINE}">not audited: right by luck' in first
    assert "tag audited" not in first
    assert "tag audited" in second
    assert "audited until a clean version" in gpu_site.app.test_client().get(BOARD_PAGE).text
    entry = board(gpu_site)[0]
    assert (entry["audited_at"], entry["not_audited"], entry["recheck"]) == (None, HEADLINE, "found")
    page = gpu_site.visitor("ada").get(f"/submissions/{racy}").text
    assert "It does not count as audited, because of what the emulator found in it." in page
    enter(gpu_site, "ada", 0.9e-4, CLEAN)
    audit(gpu_site, {"ada": replayed(0.9e-4), "bob": replayed(1.2e-4)})
    assert "tag audited" in rows(gpu_site)[0]
    assert "right by luck" not in rows(gpu_site)[0]


def test_its_user_takes_it_off_the_board_so_that_a_slower_clean_version_takes_its_place(gpu_site: Site) -> None:
    racy = enter(gpu_site, "ada", 1.0e-4, race())
    clean = enter(gpu_site, "ada", 1.1e-4, CLEAN)
    assert "right by luck<" in rows(gpu_site)[0]
    ada = gpu_site.visitor("ada")
    refused = post(ada, f"/submissions/{clean}/withdraw", {}, page=f"/submissions/{racy}")
    assert refused.status_code == 409
    assert post(ada, f"/submissions/{racy}/withdraw", {}, page=f"/submissions/{racy}").status_code == 303
    assert "You took it off, since it is right by luck." in ada.get(f"/submissions/{racy}").text
    (row,) = rows(gpu_site)
    assert "110.0 µs" in row
    assert "right by luck" not in row
    enter(gpu_site, "bob", 1.2e-4, CLEAN)
    audit(gpu_site, {"ada": replayed(1.1e-4), "bob": replayed(1.2e-4)})
    assert "tag audited" in rows(gpu_site)[0]


@pytest.mark.parametrize(
    ("setting", "is_old", "is_audited"),
    [
        ("new boards", False, False),
        ("new boards", True, True),
        ("all boards", True, False),
        ("no board", False, True),
    ],
)
def test_a_setting_says_on_which_boards(gpu_site: Site, setting: str, is_old: bool, is_audited: bool) -> None:
    enter(gpu_site, "ada", 1.0e-4, race())
    enter(gpu_site, "bob", 1.2e-4, CLEAN)
    audit(gpu_site, {"ada": replayed(1.0e-4), "bob": replayed(1.2e-4)})
    if is_old:  # as the migration leaves boards that were there before
        with gpu_site.database() as session:
            session.execute(update(BoardTotals).values(has_rechecks=False))
    choose(gpu_site, setting)
    first = rows(gpu_site)[0]
    assert ("tag audited" in first) is is_audited
    assert "right by luck<" in first, "marked all the same"


def test_operators_see_how_many_wait_and_what_fails(gpu_site: Site) -> None:
    enter(gpu_site, "ada", 1.0e-4, None)
    enter(gpu_site, "ada", 1.1e-4, None)
    with gpu_site.database() as session:
        now = gpu_site.services.clock()
        lease = claim_recheck(session, owner="w", now=now, lease_s=60, max_failures=3, max_losses=3)
        assert lease is not None
        fail_recheck(session, lease, "no emulator here", now=now, max_failures=3, pause_s=0)
        find_user(session, "ada").role = Role.OPERATOR  # type: ignore[union-attr]
    page = gpu_site.visitor("ada").get("/admin/").text
    assert "2 wait, the oldest for" in page
    assert "no emulator here" in page
    metrics = gpu_site.app.test_client().get("/metrics").text
    assert 'gpujudge_rechecks{state="waiting"} 2.0' in metrics
