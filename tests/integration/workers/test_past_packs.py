"""The pack version that judged a submission judges it again after the challenge has changed or gone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from judge.packs.collection.loader import load_pack
from store.models import Job, Submission
from store.operation.administration import NotPossibleError, rejudge
from store.operation.operator_log import Actor
from store.settings import Settings
from tests.fake_judge import EMULATOR, FakeJudge
from tests.integration.workers.conftest import MakeFleet
from tests.integration.workers.fleet import Fleet
from workers.build import build_one
from workers.context import WorkerContext, make_context
from workers.turns import run_or_help_one

OPS = Actor("ops")
CHALLENGES = Path(__file__).parents[3] / "challenges"


@pytest.fixture(autouse=True)
def _files_are_looked_at_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.packs.collection.live._LOOK_S", 0.0)


@pytest.fixture
def challenge(tmp_path: Path) -> Path:
    copy = tmp_path / "served" / "vector-add"
    shutil.copytree(CHALLENGES / "vector-add", copy)
    return copy


@pytest.fixture
def fleet(make_fleet: MakeFleet, challenge: Path) -> Fleet:
    return make_fleet(pack_paths=[challenge.parent])


@pytest.fixture
def context(fleet: Fleet) -> Iterator[WorkerContext]:
    made = _context(fleet.settings)
    yield made
    _close(made)


def _context(settings: Settings) -> WorkerContext:
    return make_context(settings, judge=FakeJudge())


def _close(made: WorkerContext) -> None:
    made.doorbell.close()
    made.engine.dispose()


def judge_all(context: WorkerContext) -> None:
    while build_one(context):
        pass
    while run_or_help_one(context, EMULATOR):
        pass


def judged_by(context: WorkerContext, public_id: str) -> str:
    with context.reads() as session:
        submission = session.scalars(select(Submission).where(Submission.public_id == public_id)).one()
        assert submission.verdict == "AC"
        assert submission.judgement is not None
        assert submission.judgement.pack_version == submission.pack_version
        return submission.pack_version


def again(context: WorkerContext, public_id: str, *, same_version: bool) -> None:
    with context.sessions.begin() as session:
        submission = session.scalars(select(Submission).where(Submission.public_id == public_id)).one()
        rejudge(session, OPS, submission, "why", now=context.clock(), same_version=same_version)


def change(challenge: Path, version: str) -> None:
    file = challenge / "challenge.toml"
    old = load_pack(challenge).version
    file.write_text(file.read_text().replace(f'version = "{old}"', f'version = "{version}"'))


def test_a_past_version_judges_again_where_that_is_asked_for(
    fleet: Fleet, context: WorkerContext, challenge: Path
) -> None:
    old, new = load_pack(challenge), "1.99.0"
    sent = fleet.submit("name=a\nmode=run", username="ada", pack=old)
    judge_all(context)
    assert judged_by(context, sent) == old.version
    change(challenge, new)
    again(context, sent, same_version=True)
    judge_all(context)
    assert judged_by(context, sent) == old.version
    again(context, sent, same_version=False)
    judge_all(context)
    assert judged_by(context, sent) == new


def test_another_worker_restores_what_is_gone_from_the_disk(
    fleet: Fleet, context: WorkerContext, challenge: Path
) -> None:
    pack = load_pack(challenge)
    sent = fleet.submit("name=a", username="ada", pack=pack)
    judge_all(context)
    shutil.rmtree(challenge)
    again(context, sent, same_version=True)
    other = _context(fleet.settings)
    try:
        judge_all(other)
    finally:
        _close(other)
    assert judged_by(context, sent) == pack.version


def test_a_version_that_was_not_kept_cannot_judge(fleet: Fleet, context: WorkerContext, challenge: Path) -> None:
    pack = load_pack(challenge)
    sent = fleet.submit("name=a", username="ada", pack=pack)
    judge_all(context)
    with context.sessions.begin() as session:
        submission = session.scalars(select(Submission)).one()
        submission.pack_digest = "0" * 64
    with pytest.raises(NotPossibleError, match=f"version {pack.version} of the challenge was not kept"):
        again(context, sent, same_version=True)
    with context.reads() as session:
        assert session.scalars(select(Job.pack_digest)).one() is None
