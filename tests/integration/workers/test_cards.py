"""Two cards of one model, one 8 % slower, each with a worker in this process: neither decides a board."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from datetime import timedelta
from typing import Any, cast

import pytest

from judge.bench.library.record import LibraryTime
from store.boards.board_key import BoardKey
from store.boards.cards import AWAY_S, board_cards, card_spread
from store.boards.leaderboards import LeaderboardEntry, leaderboard
from store.devices import record_board, upsert_device
from store.models import AuditJob, CardTime
from tests.fake_judge import GPU, FakeJudge, FakePack
from tests.integration.workers.conftest import MakeFleet
from tests.integration.workers.fleet import Fleet
from workers.audit import audit_one
from workers.build import build_one
from workers.cards import time_on_card_one
from workers.context import WorkerContext, make_context
from workers.device import run_one
from workers.gpu import DeviceService

FAST = dataclasses.replace(GPU, details={"driver": "580", "uuid_hash": "fast", "pace": 1.0})
SLOW = dataclasses.replace(GPU, details={"driver": "580", "uuid_hash": "slow", "pace": 1.08})
BOARD = BoardKey("reduction", GPU.key, 1)


class Service:
    in_service = True

    def job(self) -> Any:
        return nullcontext()


SERVICE = cast("DeviceService", Service())


@dataclasses.dataclass
class Site:
    fleet: Fleet
    context: WorkerContext

    def submit(self, username: str, value: float, device: Any) -> None:
        """Has the worker of a card judge a kernel that takes ``value`` seconds on the fast one."""
        self.fleet.submit(f"name={username}\nvalue={value}", username=username, device_key=GPU.key, ring_bell=False)
        assert build_one(self.context)
        assert run_one(self.context, device)

    def offer(self, *devices: Any, problem: str = "") -> None:
        with self.context.sessions.begin() as session:
            now = self.context.clock()
            for device in devices:
                upsert_device(session, device, now=now)
                name = device.details["uuid_hash"]
                record_board(session, device, name, problem=problem, calibration=None, now=now)

    def later(self, seconds: float) -> None:
        now = self.context.clock() + timedelta(seconds=seconds)
        self.context = dataclasses.replace(self.context, clock=lambda: now)

    def entries(self) -> list[LeaderboardEntry]:
        with self.context.reads() as session:
            return leaderboard(session, BOARD)

    def shown(self) -> list[tuple[int, str, str | None]]:
        return [(entry.rank, entry.username, entry.card) for entry in self.entries()]

    def audits(self, device: Any) -> int:
        """Audits on a card until none is due. Returns how often."""
        count = 0
        while audit_one(self.context, device):
            count += 1
            assert count < 20
            self.later(self.context.settings.audit_pause_s)
            self.offer(FAST, SLOW)
        return count

    def spread(self) -> float:
        with self.context.reads() as session:
            return card_spread(session, BOARD)


@pytest.fixture
def site(make_fleet: MakeFleet) -> Iterator[Site]:
    fleet = make_fleet()
    pack = FakePack()
    judge: Any = FakeJudge(fleet.diary)
    packs: Any = {pack.slug: pack}
    made = Site(fleet, make_context(fleet.settings, judge=judge, packs=packs))
    made.offer(FAST, SLOW)
    yield made
    made.context.doorbell.close()
    made.context.engine.dispose()


def test_the_first_places_are_timed_on_one_card_and_its_card_stays(site: Site) -> None:
    site.submit("bob", 1.02, FAST)
    site.submit("ada", 1.0, SLOW)
    assert site.shown() == [(1, "bob", "fast"), (2, "ada", "slow")], "by the card alone"
    assert site.audits(SLOW) == 1
    assert site.shown() == [(1, "ada", "slow"), (1, "bob", "slow")]
    assert site.spread() == pytest.approx(0.08)
    site.submit("eve", 0.98, FAST)
    assert not audit_one(site.context, FAST), "the slow card audits this board"
    assert site.audits(SLOW) == 1
    assert {card for _, _, card in site.shown()} == {"slow"}
    assert not site.audits(FAST)


def test_a_card_that_is_away_is_replaced(site: Site) -> None:
    site.submit("bob", 1.02, FAST)
    site.submit("ada", 1.0, SLOW)
    assert site.audits(SLOW) == 1
    site.submit("eve", 0.98, FAST)
    assert not audit_one(site.context, FAST)
    site.later(AWAY_S + 1)
    assert site.audits(FAST) == 1
    assert {card for _, _, card in site.shown()} == {"fast"}
    site.submit("joe", 0.97, FAST)
    site.offer(FAST, problem="its fan is broken")
    assert audit_one(site.context, SLOW), "out of service"


def test_everybody_who_may_be_among_the_first_is_timed_on_that_card(site: Site) -> None:
    """Six people on the slow card are as fast as the first five; at first they seem to be far behind."""
    for number in range(5):
        site.submit(f"fast{number}", 1.0 + 0.03 * number, FAST)
    assert site.audits(FAST) == 1
    for number in range(6):
        site.submit(f"slow{number}", 0.999 + 0.03 * number, SLOW)
    site.audits(FAST)
    assert time_on_card_one(site.context, SLOW, SERVICE)
    site.audits(FAST)
    found = site.entries()
    leading = [entry for entry in found if entry.rank <= 3]
    assert {entry.card for entry in leading} == {"fast"}
    best = sorted([1.0 + 0.03 * n for n in range(5)] + [0.999 + 0.03 * n for n in range(6)])
    assert [entry.value for entry in leading] == pytest.approx(best[: len(leading)])
    assert len(leading) > 3


def test_an_idle_worker_times_what_another_card_audited(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.libraries.holds_for", lambda *_: "d")
    judge = cast("FakeJudge", site.context.judge)
    judge.libraries = [LibraryTime("eager", "PyTorch eager", "", 2.0, 1.99, 2.01)]
    for name, value in (("ada", 1.0), ("bob", 1.1)):
        site.submit(name, value, FAST)
    assert not time_on_card_one(site.context, SLOW, SERVICE), "nothing was audited"
    assert audit_one(site.context, FAST)
    before = site.shown()
    assert site.spread() == 0.0
    assert not time_on_card_one(site.context, FAST, SERVICE)
    site.fleet.submit("name=waits\nvalue=3", username="eve", device_key=GPU.key, ring_bell=False)
    assert not time_on_card_one(site.context, SLOW, SERVICE), "a submission waits"
    assert build_one(site.context)
    assert run_one(site.context, SLOW)
    assert time_on_card_one(site.context, SLOW, SERVICE)
    assert site.spread() == pytest.approx(0.08)
    assert site.shown()[:2] == before[:2], "no score changed"
    with site.context.reads() as session:
        rows = session.query(CardTime).all()
        assert {(row.kernel, row.card) for row in rows if row.kernel == "eager"} == {
            ("eager", "fast"),
            ("eager", "slow"),
        }
        assert len(rows) == 6
        assert board_cards(session, BOARD).cards == ("fast", "slow")
    assert not time_on_card_one(site.context, SLOW, SERVICE), "all is known"


def test_what_cannot_be_timed_on_a_card_is_not_tried_again(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("ada", 1.0), ("bob", 1.1)):
        site.submit(name, value, FAST)
    assert audit_one(site.context, FAST)
    told: Callable[..., Any] = site.context.judge.audit

    def refuses(*given: Any, **named: Any) -> Any:
        return [dataclasses.replace(each, verdict="TI", measurement=None) for each in told(*given, **named)]

    monkeypatch.setattr(site.context.judge, "audit", refuses)
    assert time_on_card_one(site.context, SLOW, SERVICE)
    assert site.spread() == 0.0
    assert not time_on_card_one(site.context, SLOW, SERVICE)


def test_with_one_card_nothing_changes(site: Site) -> None:
    for name, value in (("ada", 1.0), ("bob", 1.1), ("eve", 1.2)):
        site.submit(name, value, FAST)
    assert audit_one(site.context, FAST)
    with site.context.reads() as session:
        assert board_cards(session, BOARD).cards == ("fast",)
        assert session.query(AuditJob).one().card == "fast"
    assert [rank for rank, _, _ in site.shown()] == [1, 2, 3]
    assert not audit_one(site.context, FAST)
