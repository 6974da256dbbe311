"""A worker says what it can build, and leaves what it cannot to others."""

from __future__ import annotations

import dataclasses

import pytest

from store.languages import built_languages
from tests.fake_judge import FakeJudge, FakePack
from tests.integration.workers.conftest import MakeFleet
from workers.context import make_context
from workers.languages import tell_own_languages
from workers.turns import build_or_help_one


def test_of_two_workers_the_one_that_can_builds(everywhere: MakeFleet) -> None:
    fleet, pack = everywhere(), FakePack()
    able = make_context(fleet.settings, judge=FakeJudge(fleet.diary), packs={pack.slug: pack})  # type: ignore[dict-item]
    lacking = dataclasses.replace(able, lacking=("triton",))
    fleet.submit("name=a", language="triton", ring_bell=False)
    tell_own_languages(lacking)
    with able.reads() as session:
        assert built_languages(session) == {"cuda"}
    assert not build_or_help_one(lacking)
    tell_own_languages(able)
    with able.reads() as session:
        assert built_languages(session) == {"cuda", "triton"}
    assert build_or_help_one(able)
    assert "build a" in fleet.diary.read_text()
    able.doorbell.close()
    able.engine.dispose()


def test_a_worker_knows_what_its_machine_lacks(everywhere: MakeFleet, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet = everywhere()
    monkeypatch.setattr("judge.languages.triton.language._is_installed", lambda: False)
    made = make_context(fleet.settings)
    assert made.lacking == ("triton",)
    made.doorbell.close()
    made.engine.dispose()
