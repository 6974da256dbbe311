"""Submissions in two languages to one challenge: workers build and judge each in its own, and keep to it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from judge.backends.registry import BUILTIN_BACKENDS
from judge.packs.pack import Pack
from judge.verdict import Verdict
from store.boards.board_key import BoardKey
from store.boards.leaderboards import leaderboard
from store.devices import upsert_device
from store.models import Submission
from tests.builds import ROOT
from tests.integration.workers.conftest import MakeFleet
from workers.context import make_context
from workers.turns import build_or_help_one, run_or_help_one

pytestmark = [pytest.mark.jail, pytest.mark.nvcc, pytest.mark.triton, pytest.mark.slow(40)]
SOLUTIONS = ROOT / "reference_solutions" / "vector-add"


def test_each_is_judged_in_its_own(make_fleet: MakeFleet, packs: dict[str, Pack], library: Path) -> None:
    assert library.exists()
    fleet, pack = make_fleet(), packs["vector-add"]
    context = make_context(fleet.settings, packs={pack.slug: pack})
    emulator = BUILTIN_BACKENDS.find_device("emulator", fleet.settings.judge_settings())
    with context.sessions.begin() as session:
        upsert_device(session, emulator, now=context.clock())
    sent = {
        language: fleet.submit(
            (SOLUTIONS / f"plain{suffix}").read_text(encoding="utf-8"), pack=pack, language=language, ring_bell=False
        )
        for language, suffix in (("cuda", ".cu"), ("triton", ".py"))
    }
    wrong = fleet.submit("def solve(): ...", pack=pack, language="triton", ring_bell=False)
    for _ in range(3):
        assert build_or_help_one(context)
    while run_or_help_one(context, emulator, rung_before=context.clock()):
        pass
    assert [fleet.verdict(each) for each in sent.values()] == ["AC", "AC"]
    assert fleet.verdict(wrong) == "CE"
    with context.reads() as session:
        (entry,) = leaderboard(session, BoardKey(pack.slug, "emulator", pack.major))
        accepted = session.scalars(select(Submission).where(Submission.verdict == Verdict.ACCEPTED))
        by_id = {row.public_id: row for row in accepted}
        times = {
            row.language: row.judgement.measurement.value
            for row in by_id.values()
            if row.judgement is not None and row.judgement.measurement is not None
        }
        assert times.keys() == {"cuda", "triton"}
        assert times["cuda"] != times["triton"], "the board has nothing to choose"
        assert entry.language == min(times, key=times.__getitem__)
        assert entry.value == times[entry.language]
        assert by_id[entry.submission_public_id].language == entry.language
    context.doorbell.close()
    context.engine.dispose()
