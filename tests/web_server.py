"""The website's server, as `gpujudge up` starts it, on a free port."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from tests.builds import ROOT

START_S = 180.0
SERVER = "web.serving.asgi:create_server_from_env()"
#: The same, whose passwords take no time.
CHEAP_SERVER = "tests.web_server:create_cheap_server()"


def create_cheap_server() -> Any:
    """Returns the server's application, which hashes passwords cheaply."""
    from tests.cheap_passwords import hash_cheaply
    from web.serving.asgi import create_server_from_env

    hash_cheaply()
    return create_server_from_env()


@contextlib.contextmanager
def running_server(data_dir: Path, *, application: str = SERVER, **environment: str) -> Iterator[int]:
    """Starts the server with these settings, too, and returns its port. The database must be migrated."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    env = {**os.environ, "GPUJUDGE_DATA_DIR": str(data_dir), "GPUJUDGE_PORT": str(port), **environment}
    argv = [
        sys.executable,
        "-m",
        "gunicorn",
        "-c",
        "python:web.serving.gunicorn_conf",
        application,
    ]
    process = subprocess.Popen(argv, cwd=ROOT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + START_S
        while True:
            with contextlib.suppress(httpx.HTTPError):
                httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=START_S)
                break
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait(START_S)
