"""Nothing that takes other people's code starts where the jail does not hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.errors import JailUnavailable
from judge.probe import Probe
from judge.sandbox import probe
from judge.sandbox.probe import require_walls
from tests.unit.cli.conftest import Cli
from workers import main as workers_main


@pytest.fixture(autouse=True)
def _own_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPUJUDGE_DATA_DIR", str(tmp_path / "data"))
    for name in ("GPUJUDGE_DATABASE_URL", "GPUJUDGE_REDIS_URL", "GPUJUDGE_JAIL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    monkeypatch.setattr("cli.stack.prepare_devices", lambda *_: None)
    monkeypatch.setattr("cli.commands.machine.Supervisor", lambda *_, **__: pytest.fail("it started"))


@pytest.fixture
def _open_network(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Probe("network", False, "reached: 1.1.1.1:53", "close it")
    monkeypatch.setattr(probe, "walls", lambda: [Probe("bubblewrap", True, "there"), broken])


@pytest.mark.usefixtures("_open_network")
def test_up_refuses(cli: Cli) -> None:
    ended = cli("up", "--port", "0")
    assert ended.exit_code == 1
    assert "reached: 1.1.1.1:53" in ended.stderr
    assert "GPUJUDGE_JAIL=off" in ended.stderr


@pytest.mark.usefixtures("_open_network")
@pytest.mark.parametrize("argv", [["build"], ["device", "--device", "emulator"]])
def test_workers_refuse(argv: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_main, "serve", lambda *_, **__: pytest.fail("it started"))
    assert workers_main.main(argv) == 1


@pytest.mark.usefixtures("_open_network")
def test_what_does_not_hold_is_named() -> None:
    with pytest.raises(JailUnavailable, match="network"):
        require_walls("required")
    require_walls("off")


def test_without_a_jail_only_this_machine_is_served(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUJUDGE_JAIL", "off")
    ended = cli("up", "--port", "0", "--host", "0.0.0.0")
    assert ended.exit_code == 1
    assert "your own code" in ended.stderr
