"""Runners that are started before sessions need them."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from judge.errors import InternalError
from judge.settings import JudgeSettings
from judge.supervisor import runner_start
from judge.supervisor.runner_spec import RunnerSpec
from judge.supervisor.runner_start import REGION_BYTES, EarlyRunners, StartedRunner

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


def test_each_is_given_out_once(started: list[Any]) -> None:
    early = EarlyRunners(Mock(), SPEC, SETTINGS, 2)

    taken = [early.take(REGION_BYTES, 1), early.take(1, REGION_BYTES)]

    assert [each.process for each in taken if each is not None] == started
    assert early.take(1, 1) is None
    early.close()
    assert len(started) == 2
    started[0].close.assert_not_called()


def test_those_that_nobody_takes_are_ended(started: list[Any]) -> None:
    early = EarlyRunners(Mock(), SPEC, SETTINGS, 2)
    early.take(1, 1)

    early.close()
    early.close()

    started[0].close.assert_not_called()
    started[1].close.assert_called_once_with()
    assert early.take(1, 1) is None


def test_none_is_left_behind_if_one_does_not_start(started: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    start = runner_start.start_runner

    def fail_second(*arguments: Any) -> StartedRunner:
        if started:
            raise InternalError("no more")
        return start(*arguments)

    monkeypatch.setattr(runner_start, "start_runner", fail_second)
    with pytest.raises(InternalError):
        EarlyRunners(Mock(), SPEC, SETTINGS, 2)

    started[0].close.assert_called_once_with()


@pytest.mark.parametrize("sizes", [(REGION_BYTES + 1, 1), (1, REGION_BYTES + 1)])
def test_they_end_if_their_memory_is_too_small(started: list[Any], sizes: tuple[int, int]) -> None:
    early = EarlyRunners(Mock(), SPEC, SETTINGS, 2)

    assert early.take(*sizes) is None

    for each in started:
        each.close.assert_called_once_with()


def test_they_are_told_what_every_runner_is_told(started: list[Any]) -> None:
    EarlyRunners(Mock(), SPEC, dataclasses.replace(SETTINGS, jail="off"), 1)

    request = started[0].request
    assert (request.device_module, request.lock) == ("judge.runner.emulator", False)
    assert (request.input_bytes, request.output_bytes) == (REGION_BYTES, REGION_BYTES)
