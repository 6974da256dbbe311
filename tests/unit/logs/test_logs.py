"""Log lines for machines and for people; neither holds the values of variables."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Literal

import pytest
import structlog

from logs import LogSettings, configure_logging


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


def crash(log: structlog.stdlib.BoundLogger) -> None:
    password = "hunter" + "2"
    try:
        raise ValueError(f"{len(password)} characters")
    except ValueError:
        log.exception("it.broke", job=7)


@pytest.mark.parametrize("form", ["json", "console"])
def test_an_exception(form: Literal["json", "console"], capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(LogSettings(log_format=form), process="build")
    crash(structlog.get_logger("workers.test"))
    logging.getLogger("elsewhere").warning("from the library %s", "kombu")
    said = capsys.readouterr().err
    assert "7 characters" in said
    assert "hunter2" not in said
    if form == "json":
        ours, theirs = (json.loads(line) for line in said.splitlines())
        assert (ours["event"], ours["job"], ours["process"], ours["level"]) == ("it.broke", 7, "build", "error")
        assert (theirs["event"], theirs["logger"]) == ("from the library kombu", "elsewhere")
