"""audit, with a judge of tests: the board before and after, and what is said where there is nothing to do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from store.boards.audits import AuditedBoard, claim_board
from store.clock import utc_now
from store.models import User
from store.submissions import create_submission
from tests.fake_judge import EMULATOR, FakeJudge, FakePack
from tests.unit.cli.conftest import Cli
from workers.build import build_one
from workers.context import WorkerContext, make_context
from workers.device import run_one

ENTRIES = {
    "ada": "value=0.001\naudit_value=0.003",
    "bob": "value=0.002\naudit_value=0.002",
    "eve": "value=0.0015\naudit_verdict=TI\nsays=it claims less than the clock saw",
}


@pytest.fixture(autouse=True)
def context(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[WorkerContext]:
    """The server's data, with three on the board, and the judge of tests behind the command."""
    monkeypatch.setenv("GPUJUDGE_DATA_DIR", str(tmp_path / "data"))
    for name in ("GPUJUDGE_DATABASE_URL", "GPUJUDGE_REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("workers.context.PipelineJudge", lambda _settings: FakeJudge())
    monkeypatch.setattr("cli.commands.audit.find_device", lambda _name, _settings: EMULATOR)
    assert cli("db", "upgrade").exit_code == 0
    from store.settings import Settings

    made = make_context(Settings())
    for name, source in ENTRIES.items():
        with made.sessions.begin() as session:
            user = User(username=name, username_key=name, created_at=utc_now())
            session.add(user)
            session.flush()
            create_submission(session, user=user, pack=FakePack(), device_key="emulator", mode="submit", source=source)
        assert build_one(made)
        assert run_one(made, EMULATOR)
    yield made
    made.doorbell.close()
    made.engine.dispose()


def test_the_new_order_and_who_left_it(cli: Cli) -> None:
    ended = cli("audit", "reduction", "--device", "cuda:0")
    assert ended.exit_code == 0, ended.stderr
    rows = [line.split("\t") for line in ended.stdout.splitlines()]
    assert [row[:6] for row in rows[1:]] == [
        ["1", "3", "bob", "2 ms", "1.98 to 2.02 ms", "AC"],
        ["2", "1", "ada", "3 ms", "2.97 to 3.03 ms", "AC"],
        ["", "2", "eve", "", "", "TI"],
    ]
    assert rows[1][7] == "not audited: its kernels were not replayed"
    assert rows[3][7] == "it claims less than the clock saw"
    again = cli("audit", "reduction", "--device", "cuda:0", "--json").json
    assert [(row["rank"], row["rank_before"], row["username"]) for row in again["contenders"]] == [
        (1, 1, "bob"),
        (2, 2, "ada"),
    ]


def test_nothing_to_audit(cli: Cli) -> None:
    ended = cli("audit", "softmax", "--device", "cuda:0")
    assert (ended.exit_code, ended.stdout) == (0, "")
    assert "Nobody is on a board of measured times for softmax on emulator" in ended.stderr
    assert cli("audit", "softmax", "--device", "cuda:0", "--json").json["contenders"] == []
    assert cli("audit", "no-such", "--device", "cuda:0").exit_code == 2


def test_a_failure_leaves_the_board_as_it_was(
    cli: Cli, context: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    with context.sessions.begin() as session:
        claim_board(session, AuditedBoard("reduction", "emulator", 1), owner="worker 7", now=utc_now())
    held = cli("audit", "reduction", "--device", "cuda:0")
    assert held.exit_code == 1
    assert "worker 7 audits this board now" in held.stderr
    monkeypatch.setenv("GPUJUDGE_DATABASE_URL", "postgresql://user:secret@127.0.0.1:1/x")
    away = cli("audit", "reduction", "--device", "cuda:0")
    assert away.exit_code == 1
    assert "is away" in away.stderr
    assert "secret" not in away.stderr
