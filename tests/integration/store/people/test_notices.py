"""Notices are shown from their beginning to their end; changed settings are kept until they are reset."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.orm import Session, sessionmaker

from store.operation.changed_settings import change_setting, changed_settings, reset_setting
from store.operation.operator_log import Actor, list_actions
from store.people.notices import NoticeError, end_notice, list_notices, post_notice, shown_notices

T0 = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
HOUR = timedelta(hours=1)
OPS = Actor("ops", None, "10.0.0.1")


def _shown(sessions: sessionmaker[Session], now: datetime) -> list[str]:
    with sessions() as session:
        return [notice.text for notice in shown_notices(session, now=now)]


def test_a_notice_is_shown_from_its_beginning_to_its_end(sessions: sessionmaker[Session]) -> None:
    with sessions.begin() as session:
        post_notice(session, OPS, "always", now=T0)
        post_notice(session, OPS, "later\n today", now=T0, starts_at=T0 + HOUR, ends_at=T0 + 2 * HOUR)
    assert _shown(sessions, T0) == ["always"]
    assert _shown(sessions, T0 + HOUR) == ["later today", "always"]
    assert _shown(sessions, T0 + 2 * HOUR) == ["always"]


def test_a_notice_that_was_ended_is_kept_but_not_shown(sessions: sessionmaker[Session]) -> None:
    with sessions.begin() as session:
        shown = post_notice(session, OPS, "shown", now=T0).id
        planned = post_notice(session, OPS, "planned", now=T0, starts_at=T0 + HOUR).id
    with sessions.begin() as session:
        assert end_notice(session, OPS, shown, now=T0 + HOUR / 2) is not None
        assert end_notice(session, OPS, planned, now=T0 + HOUR / 2) is not None
    with sessions.begin() as session:
        assert end_notice(session, OPS, shown, now=T0 + HOUR) is None
        assert end_notice(session, OPS, 999, now=T0 + HOUR) is None
        assert [notice.text for notice in list_notices(session)] == ["planned", "shown"]
        actions = list_actions(session, target=f"notice {shown}")
    assert [(each.action, each.actor, each.address) for each in actions] == [
        ("end notice", "ops", "10.0.0.1"),
        ("notice", "ops", "10.0.0.1"),
    ]
    assert _shown(sessions, T0 + 2 * HOUR) == []


@pytest.mark.parametrize(
    ("text", "ends_at", "field"),
    [
        (" \n", None, "text"),
        ("\x00", None, "text"),
        ("x" * 501, None, "text"),
        ("fine", T0, "ends_at"),
        ("fine", T0 + HOUR / 2, "ends_at"),
    ],
)
def test_a_notice_that_nobody_would_see_is_refused(
    sessions: sessionmaker[Session], text: str, ends_at: datetime | None, field: str
) -> None:
    with sessions.begin() as session, pytest.raises(NoticeError) as error:
        post_notice(session, OPS, text, now=T0, starts_at=T0 + HOUR, ends_at=ends_at)
    assert error.value.field == field
    with sessions() as session:
        assert list_actions(session) == []


def test_a_setting_is_changed_until_it_is_reset(sessions: sessionmaker[Session]) -> None:
    with sessions.begin() as session:
        change_setting(session, OPS, "max_waiting", 7, now=T0)
        change_setting(session, OPS, "sign_up", "closed", now=T0)
    with sessions.begin() as session:
        change_setting(session, OPS, "max_waiting", 9, now=T0)
        assert changed_settings(session) == {"max_waiting": 9, "sign_up": "closed"}
    with sessions.begin() as session:
        assert reset_setting(session, OPS, "max_waiting", now=T0)
        assert not reset_setting(session, OPS, "max_waiting", now=T0)
    with sessions() as session:
        assert changed_settings(session) == {"sign_up": "closed"}
        done = [(action.action, action.details) for action in list_actions(session, target="setting max_waiting")]
    assert done == [
        ("reset", {"before": 9}),
        ("set", {"before": 7, "after": 9}),
        ("set", {"before": None, "after": 7}),
    ]
