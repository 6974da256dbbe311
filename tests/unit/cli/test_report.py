"""Each error ends the command with one message, an exit code and no traceback; with ``--json``, an object."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli import config
from cli.report import explain, wants_json
from judge.errors import InternalError
from tests.builds import ROOT
from tests.unit.cli.conftest import Cli, FakeServer

GPUJUDGE = [sys.executable, "-m", "cli.main"]

FAULTS: list[tuple[Exception, int, str]] = [
    (PermissionError(errno.EACCES, "Permission denied", "/data/x"), 1, "cannot use /data/x: Permission denied"),
    (OSError(errno.EROFS, "Read-only file system", "/data"), 1, "cannot use /data: Read-only file system"),
    (OSError(errno.ENOSPC, "No space left on device"), 1, "cannot write: No space left on device"),
    (NotADirectoryError(errno.ENOTDIR, "Not a directory", "/data"), 1, "the system refused to use /data"),
    (InternalError("the jail is broken", "gpujudge doctor"), 1, "the jail is broken"),
    (MemoryError(), 1, "not enough memory"),
    (RecursionError("maximum recursion depth exceeded"), 20, "gpujudge failed"),
    (KeyError("slug"), 20, "gpujudge failed, which is its own fault: KeyError: 'slug'"),
    (UnicodeEncodeError("ascii", "é", 0, 1, "ordinal not in range(128)"), 1, "cannot be encoded"),
]


@pytest.mark.parametrize(("fault", "exit_code", "message"), FAULTS, ids=lambda one: type(one).__name__)
def test_any_exception_is_told_in_one_message(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, fault: Exception, exit_code: int, message: str
) -> None:
    def fail(*_: object) -> None:
        raise fault

    monkeypatch.setattr(config, "load_config", fail)
    done = cli("whoami", "--json")
    assert done.exit_code == exit_code
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert message in done.json["error"]["message"]


@pytest.mark.parametrize(
    ("argv", "exit_code", "code"),
    [
        (("submt", "--json"), 2, "usage"),
        (("submit", "--json"), 2, "usage"),
        (("judge", "nowhere.cu", "--json"), 2, "usage"),
        (("judge", ".", "-c", "softmax", "--json"), 2, "usage"),
        (("challenges", "--limit", "--json"), 2, "usage"),
        (("cancel", "abc", "--json"), 2, "usage"),
    ],
)
def test_errors_are_objects_too(cli: Cli, argv: tuple[str, ...], exit_code: int, code: str) -> None:
    done = cli(*argv)
    assert done.exit_code == exit_code
    error = done.json["error"]
    assert error["code"] == code
    assert error["message"] in done.stderr
    assert set(error) == {"code", "message", "hint"}


ANSWERS: list[Any] = [[], {}, 7, "text", {"challenges": 1}, {"challenges": [1]}, {"challenges": [{"slug": {}}]}]


@pytest.mark.parametrize("answer", ANSWERS, ids=json.dumps)
@pytest.mark.parametrize(
    ("argv", "route"),
    [
        (("challenges",), "GET challenges"),
        (("show", "x"), "GET challenges/x"),
        (("init", "x"), "GET challenges/x"),
        (("leaderboard", "x"), "GET leaderboards/x"),
        (("submissions",), "GET submissions"),
        (("watch", "x"), "GET submissions/x"),
        (("open", "x"), "GET submissions/x"),
        (("whoami",), "GET me"),
    ],
)
def test_json_of_the_wrong_shape(cli: Cli, server: FakeServer, argv: tuple[str, ...], route: str, answer: Any) -> None:
    server.routes = {route: answer}
    done = cli(*argv)
    is_list = answer == [] and argv[0] in ("challenges", "leaderboard", "submissions")
    assert done.exit_code == (0 if is_list else 3), done
    assert "its own fault" not in done.stderr


@pytest.mark.parametrize("text", ["[]", "7", '{"server": 7}', '{"tokens": []}', "{", "\x00"])
def test_a_config_of_the_wrong_shape(cli: Cli, tmp_path: Path, text: str) -> None:
    path = tmp_path / "config" / "gpujudge" / "config.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    done = cli("challenges")
    assert done.exit_code == 2
    assert f"cannot read {path}" in done.stderr


def test_a_config_that_cannot_be_written(cli: Cli, server: FakeServer, tmp_path: Path) -> None:
    server.routes = {"POST tokens": {"token": "gpj_x"}, "GET me": {"username": "ada"}}
    (tmp_path / "config").write_text("a file where a folder should be")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(config, "load_config", lambda _: config.Config())
        patch.setattr("cli.commands.account.load_config", lambda _: config.Config())
        patch.setattr("sys.stdin", _Lines("gpj_x\n"))
        done = cli("login", "--token-stdin")
    assert done.exit_code == 1
    assert "cannot write" in done.stderr


class _Lines:
    def __init__(self, text: str) -> None:
        self.text = text

    def readline(self) -> str:
        return self.text


def _run(redirection: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", f'"$@" {redirection}', "sh", *GPUJUDGE, "--help"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=ROOT,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize(
    ("redirection", "exit_code", "message"),
    [
        (">/dev/full", 1, "error: cannot write: No space left on device\nFree some space, or name another folder.\n"),
        (">&-", 1, "error: stdout is closed: where should the output go?\n"),
        (">/dev/null 2>&-", 0, ""),
        (">/dev/full 2>&-", 1, ""),
        (">&- 2>&-", 1, ""),
    ],
)
def test_stdout_that_takes_nothing(redirection: str, exit_code: int, message: str) -> None:
    done = _run(redirection)
    assert (done.returncode, done.stderr) == (exit_code, message)


def test_a_reader_that_goes_away() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*GPUJUDGE, "--help"], stdout=write, stderr=subprocess.PIPE, text=True, check=False, timeout=60, cwd=ROOT
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


#: Tests that run in the background of a shell inherit that SIGINT is ignored.
_INTERRUPTIBLE = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from cli.main import main
os.write(1, b".")
main()
"""


@pytest.mark.parametrize("moment_s", [0.06, 0.12, 0.25])
def test_ctrl_c_at_any_moment(moment_s: float) -> None:
    """Once Python is up and has loaded ``cli.main``, that is, which is short: before that nothing of ours runs."""
    # A server that takes the connection and never answers.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        process = subprocess.Popen(
            [sys.executable, "-c", _INTERRUPTIBLE, "challenges"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, "GPUJUDGE_SERVER": f"127.0.0.1:{silent.getsockname()[1]}"},
        )
        assert process.stdout is not None
        process.stdout.read(1)
        time.sleep(moment_s)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert b"Traceback" not in errors


def test_a_data_folder_that_is_a_file(cli: Cli, kernel: Path, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    done = cli("judge", str(kernel), "--data-dir", str(tmp_path / "data"))
    assert done.exit_code == 2
    assert "cannot make" in done.stderr


def test_the_traceback_is_there_for_who_asks(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("slug")

    monkeypatch.setenv("GPUJUDGE_TRACEBACK", "1")
    monkeypatch.setattr(config, "load_config", fail)
    with pytest.raises(KeyError):
        cli("whoami")


@pytest.mark.parametrize(
    ("argv", "wanted"),
    [
        ("challenges --json", True),
        ("challenges", False),
        ("submit -- --json", False),
        ("emulate ./prog --json", False),
        ("emulate --gpu=h200 ./prog --json", False),
        ("show emulate --json", True),
    ],
)
def test_whose_option_it_is(argv: str, wanted: bool) -> None:
    assert wants_json(argv.split()) == wanted


def test_databases_of_another_kind() -> None:
    def made(module: str, message: str) -> Exception:
        kind: Callable[[str], Exception] = type("Error", (Exception,), {"__module__": module})
        return kind(message)

    newer = explain(made("alembic.util.exc", "Can't locate revision identified by 'ff00'"))
    assert newer.message.startswith("the database was made by a newer gpujudge")
    broken = explain(made("sqlalchemy.exc", "file is not a database\n[SQL: ...]"))
    assert broken.message == "the database does not work: file is not a database"
