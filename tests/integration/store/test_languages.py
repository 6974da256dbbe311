"""Workers say which languages they can build, and leave the other jobs to others."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session, sessionmaker

from store.assemblies import claim_assembly, request_assembly
from store.draft_assemblies import WantedAssembly, claim_draft_assembly, request_draft_assembly
from store.languages import EVERY_S, built_languages, overdue_languages, tell_languages
from store.models import Submission, User
from store.queue.jobs import LeaseRules, Stage, claim_job
from store.submissions import create_submission
from tests.fake_judge import FakePack

T0 = datetime(2026, 1, 2, tzinfo=UTC)


def test_what_no_worker_names_any_more_is_not_built(sessions: sessionmaker[Session]) -> None:
    with sessions.begin() as session:
        assert built_languages(session) is None
        tell_languages(session, ["cuda", "triton"], owner="a", now=T0)
        assert built_languages(session) == {"cuda", "triton"}
        assert overdue_languages(session, ["cuda", "triton"], now=T0 + timedelta(seconds=EVERY_S - 1)) == []
        assert overdue_languages(session, ["cuda"], now=T0 + timedelta(seconds=EVERY_S + 1)) == ["cuda"]
        # Of two workers one has no Triton, and the other ends.
        later = T0 + timedelta(minutes=5)
        tell_languages(session, ["cuda"], owner="b", now=later)
        assert built_languages(session) == {"cuda", "triton"}
        tell_languages(session, ["cuda"], owner="b", now=later + timedelta(minutes=10))
        assert built_languages(session) == {"cuda"}


def test_a_worker_leaves_what_it_lacks_to_others(sessions: sessionmaker[Session], ada: User) -> None:
    rules = LeaseRules()
    with sessions.begin() as session:
        for language in ("triton", "cuda"):
            pack = FakePack()
            sent = create_submission(
                session, user=ada, pack=pack, device_key="emulator", mode="run", source="s", now=T0, language=language
            )
            request_assembly(session, sent, "sm_80", now=T0)
        wanted = WantedAssembly(ada.id, "reduction", "d" * 64, "triton", "sm_80", b"s")
        request_draft_assembly(session, wanted, now=T0)
    with sessions.begin() as session:
        claims = [
            claim_job(session, Stage.BUILD, owner="w", now=T0, rules=rules, lacking=lacking)
            for lacking in (("triton",), ("triton",), ())
        ]
        languages = [each and session.get_one(Submission, each.submission_id).language for each in claims]
        assert languages == ["cuda", None, "triton"]
        made = [claim_assembly(session, now=T0, lacking=lacking) for lacking in (("triton",), ("triton",), ())]
        assert [each and session.get_one(Submission, each.submission_id).language for each in made] == languages
        assert claim_draft_assembly(session, now=T0, lacking=("triton",)) is None
        assert claim_draft_assembly(session, now=T0) is not None
