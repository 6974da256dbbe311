"""Drafts and their versions, on both databases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.orm import Session, sessionmaker

from store.drafts import MOST_VERSIONS, SPELL, DraftConflictError, draft_versions, find_draft, latest_draft, save_draft
from store.models import Draft, User

T0 = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LATER = SPELL + timedelta(seconds=1)


def _save(sessions: sessionmaker[Session], user: User, source: str, base: int, at: datetime = T0, **more: bool) -> int:
    with sessions.begin() as session:
        return save_draft(
            session, user_id=user.id, challenge="softmax", source=source, base=base, now=at, **more
        ).version


def _sources(sessions: sessionmaker[Session], user: User) -> list[str]:
    with sessions() as session:
        return [draft.source for draft in draft_versions(session, user_id=user.id, challenge="softmax")]


def test_saves_of_one_spell_replace_each_other_and_later_ones_are_kept(
    sessions: sessionmaker[Session], ada: User
) -> None:
    assert _save(sessions, ada, "a", 0) == 1
    assert _save(sessions, ada, "ab", 1, T0 + timedelta(seconds=5)) == 2
    assert _sources(sessions, ada) == ["ab"]
    assert _save(sessions, ada, "abc", 2, T0 + LATER) == 3
    assert _save(sessions, ada, "other", 3, T0 + LATER, new_spell=True) == 4
    assert _sources(sessions, ada) == ["other", "abc", "ab"]
    with sessions() as session:
        old = find_draft(session, user_id=ada.id, challenge="softmax", version=2)
        assert old is not None
        assert (old.source, old.begun_at) == ("ab", T0)
        assert find_draft(session, user_id=ada.id, challenge="softmax", version=1) is None
        assert latest_draft(session, user_id=ada.id, challenge="reduction") is None


def test_a_save_on_an_old_version_is_refused_and_changes_nothing(sessions: sessionmaker[Session], ada: User) -> None:
    _save(sessions, ada, "first window", 0)
    _save(sessions, ada, "first window, on", 1)
    with pytest.raises(DraftConflictError):
        _save(sessions, ada, "second window", 1)
    with pytest.raises(DraftConflictError):
        _save(sessions, ada, "second window", 7)
    assert _sources(sessions, ada) == ["first window, on"]


def test_what_is_saved_already_is_no_new_version(sessions: sessionmaker[Session], ada: User) -> None:
    _save(sessions, ada, "same", 0)
    assert _save(sessions, ada, "same", 0, T0 + LATER) == 1
    assert _sources(sessions, ada) == ["same"]


def test_the_oldest_versions_go_first(sessions: sessionmaker[Session], ada: User) -> None:
    for number in range(MOST_VERSIONS + 3):
        _save(sessions, ada, f"version {number}", number, T0 + number * LATER)
    kept = _sources(sessions, ada)
    assert len(kept) == MOST_VERSIONS
    assert (kept[0], kept[-1]) == (f"version {MOST_VERSIONS + 2}", "version 3")


def test_drafts_go_with_their_user(sessions: sessionmaker[Session], ada: User) -> None:
    _save(sessions, ada, "mine", 0)
    with sessions.begin() as session:
        session.delete(session.get_one(User, ada.id))
    with sessions() as session:
        assert session.query(Draft).count() == 0
