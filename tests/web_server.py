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

import httpx

from tests.builds import ROOT

START_S = 60.0


@contextlib.contextmanager
def running_server(data_dir: Path, **environment: str) -> Iterator[int]:
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
        "web.serving.asgi:create_server_from_env()",
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
