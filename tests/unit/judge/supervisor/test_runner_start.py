"""A runner that is started before a session needs it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from judge.settings import JudgeSettings
from judge.supervisor import runner_start
from judge.supervisor.runner_spec import RunnerSpec
from judge.supervisor.runner_start import REGION_BYTES, EarlyRunner, StartedRunner

SETTINGS = JudgeSettings(data_dir=Path("/nonexistent"))
SPEC = RunnerSpec("judge.runner.emulator", None)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The processes that were started."""
    made: list[Any] = []

    def start(launcher: object, request: object, print_bytes: int) -> StartedRunner:  # noqa: ARG001
        made.append(Mock(request=request))
        return StartedRunner(made[-1], None)

    monkeypatch.setattr(runner_start, "start_runner", start)
    return made


def test_it_is_given_out_once(started: list[Any]) -> None:
    early = EarlyRunner(Mock(), SPEC, SETTINGS)

    taken = early.take(REGION_BYTES, 1)

    assert taken is not None
    assert taken.process is started[0]
    assert early.take(1, 1) is None
    early.close()
    assert len(started) == 1
    started[0].close.assert_not_called()


def test_it_ends_if_nobody_takes_it(started: list[Any]) -> None:
    early = EarlyRunner(Mock(), SPEC, SETTINGS)

    early.close()
    early.close()

    started[0].close.assert_called_once_with()
    assert early.take(1, 1) is None


@pytest.mark.parametrize("sizes", [(REGION_BYTES + 1, 1), (1, REGION_BYTES + 1)])
def test_it_ends_if_its_memory_is_too_small(started: list[Any], sizes: tuple[int, int]) -> None:
    early = EarlyRunner(Mock(), SPEC, SETTINGS)

    assert early.take(*sizes) is None

    started[0].close.assert_called_once_with()


def test_it_is_told_what_every_runner_is_told(started: list[Any]) -> None:
    EarlyRunner(Mock(), SPEC, dataclasses.replace(SETTINGS, jail="off"))

    request = started[0].request
    assert (request.device_module, request.lock) == ("judge.runner.emulator", False)
    assert (request.input_bytes, request.output_bytes) == (REGION_BYTES, REGION_BYTES)
