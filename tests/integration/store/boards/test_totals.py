from __future__ import annotations

import random
from datetime import UTC, datetime

from sqlalchemy import distinct, func, select
from sqlalchemy.orm import Session, sessionmaker

from judge.judgement import BuildReport, Judgement
from judge.verdict import Verdict
from store.boards.totals import challenge_totals, solved_challenges, tried_challenges, verdict_totals
from store.models import Submission
from store.people.accounts import create_user
from store.queue.jobs import LeaseRules, Stage, claim_job, finish_judged
from store.submissions import create_submission
from tests.fake_judge import EMULATOR, FakePack

T0 = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
VERDICTS = (Verdict.ACCEPTED, Verdict.WRONG_ANSWER, Verdict.COMPILE_ERROR)


def test_the_totals_are_what_counting_all_submissions_gives(sessions: sessionmaker[Session]) -> None:
    chance = random.Random(7)
    with sessions.begin() as session:
        users = [
            create_user(session, username=name, password="correct horse battery", now=T0) for name in ("ada", "bo")
        ]
        ids = [user.id for user in users]
    packs = [FakePack(slug="reduction"), FakePack(slug="softmax")]
    for _ in range(40):
        mode, pack = chance.choice(("run", "submit", "submit")), chance.choice(packs)
        with sessions.begin() as session:
            create_submission(
                session, user=chance.choice(users), pack=pack, device_key="emulator", mode=mode, source="s", now=T0
            )
            lease = claim_job(session, Stage.BUILD, owner="w", now=T0, rules=LeaseRules())
            assert lease is not None
            judgement = Judgement(chance.choice(VERDICTS), pack.slug, "1.0.0", EMULATOR, BuildReport(True, 0.1))
            assert finish_judged(session, lease, judgement, now=T0)
    with sessions() as session:
        by_verdict = select(Submission.verdict, func.count()).group_by(Submission.verdict)
        assert verdict_totals(session) == {verdict: int(count) for verdict, count in session.execute(by_verdict)}
        submitted = Submission.mode == "submit"
        accepted = submitted & (Submission.verdict == Verdict.ACCEPTED)
        for slug, totals in challenge_totals(session).items():
            of_slug = Submission.challenge == slug
            assert totals.judged == session.scalar(select(func.count()).where(of_slug, submitted))
            assert totals.accepted == session.scalar(select(func.count()).where(of_slug, accepted))
            assert totals.solvers == session.scalar(
                select(func.count(distinct(Submission.user_id))).where(of_slug, accepted)
            )
        for user_id in ids:
            own = Submission.user_id == user_id
            tried = select(Submission.challenge).where(own).distinct()
            assert tried_challenges(session, user_id=user_id) == frozenset(session.scalars(tried))
            solved = select(Submission.challenge).where(own, accepted).distinct()
            assert solved_challenges(session, user_id=user_id) == frozenset(session.scalars(solved))
