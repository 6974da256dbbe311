"""The process for packs' code that is started before anything else is there."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from judge.packs.isolation import fork_server


def test_one_is_started_and_none_once_it_was_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Mock] = []
    monkeypatch.setattr(fork_server, "ForkServer", lambda library: made.append(Mock(library=library)) or made[-1])
    monkeypatch.setattr(fork_server, "_early", None)
    monkeypatch.setattr(fork_server, "_was_taken", False)

    fork_server.start_early()
    fork_server.start_early()
    assert fork_server.take_early() is made[0]
    assert fork_server.take_early() is None
    fork_server.start_early()

    assert len(made) == 1
