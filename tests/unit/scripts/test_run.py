"""scripts/run: a page with the progress while the packages are installed, then `gpujudge up` on the same socket."""

from __future__ import annotations

import http.client
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.starting_page import LISTENER
from tests.builds import ROOT


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose installation waits for a file ``gate``, and then does what it holds."""
    for name in ("scripts/run", "cli/starting_page.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    _script(
        tmp_path / "scripts/bootstrap",
        f"""\
        if [ "$1" = python ]; then echo {sys.executable}; exit; fi
        echo "installing gpujudge[$1] into .venv" >&2
        while ! [ -e gate ]; do sleep 0.05; done
        . ./gate""",
    )
    _script(tmp_path / ".venv/bin/gpujudge", f'echo "$@" "fd=${LISTENER}"; ls -l /proc/self/fd')
    return tmp_path


def _script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def _start(checkout: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [checkout / "scripts/run", *arguments],
        env={"PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _page(port: int, wanted: str) -> str:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        try:
            connection.request("GET", "/")
            body = connection.getresponse().read().decode()
        except OSError:
            continue
        finally:
            connection.close()
        if wanted in body:
            return body
    pytest.fail(f"the page never said {wanted}")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def test_the_page_is_there_during_the_installation_and_its_socket_after_it(checkout: Path) -> None:
    port = _free_port()
    with _start(checkout, "--port", str(port), "--device", "emulator") as process:
        page = _page(port, "Installing gpujudge[server] into .venv")
        assert "gpujudge is starting" in page
        (checkout / "gate").write_text("exit 0")
        said, complaints = process.communicate(timeout=30)
    assert process.returncode == 0, complaints
    assert f"http://127.0.0.1:{port} shows how far it is" in complaints
    assert said.startswith(f"up --port {port} --device emulator fd=")
    number = said.split("fd=")[1].split()[0]
    assert f" {number} -> socket:" in said


def test_a_failed_installation_is_on_the_page_and_in_the_exit_code(checkout: Path) -> None:
    port = _free_port()
    with _start(checkout, f"--port={port}") as process:
        _page(port, "Installing gpujudge[server]")
        (checkout / "gate").write_text("echo 'error: pip could not install it' >&2; exit 7")
        page = _page(port, "could not start")
        assert "error: pip could not install it" in page
        assert "then type: make run" in page
        process.communicate(timeout=30)
    assert process.returncode == 7


def test_a_port_that_is_taken_is_left_to_gpujudge_up(checkout: Path) -> None:
    (checkout / "gate").write_text("exit 0")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with _start(checkout, "--port", str(port)) as process:
            said, _ = process.communicate(timeout=30)
    assert said.startswith(f"up --port {port} fd=\n")
