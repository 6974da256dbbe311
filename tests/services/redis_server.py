"""A Redis for tests: GPUJUDGE_TEST_REDIS_URL, or one of our own from the installed binary, or the local one.

Our own comes before the local one (of which the last database is taken), since tests flush what they are given.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator

import redis

LOCAL = "redis://127.0.0.1:6379/15"


class Unavailable(Exception):
    """Why there is no server."""


def _answers(url: str) -> str | None:
    """None when it answers, otherwise why not."""
    try:
        with redis.Redis.from_url(url, socket_connect_timeout=10, socket_timeout=10) as client:
            client.ping()
    except (redis.RedisError, OSError, ValueError) as error:
        return str(error)
    return None


@contextlib.contextmanager
def _own_server(binary: str) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="gpujudge-redis-") as folder:
        process = subprocess.Popen(
            [binary, "--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no", "--dir", folder],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            url, until = f"redis://127.0.0.1:{port}/0", time.monotonic() + 60
            while (reason := _answers(url)) is not None:
                if process.poll() is not None or time.monotonic() > until:
                    raise Unavailable(f"{binary} did not start: {reason}")
                time.sleep(0.02)
            yield url
        finally:
            process.terminate()
            process.wait(timeout=60)


@contextlib.contextmanager
def server() -> Iterator[str]:
    """The URL of a database that a test may flush. Raises Unavailable with the reason."""
    named = os.environ.get("GPUJUDGE_TEST_REDIS_URL")
    if named:
        reason = _answers(named)
        if reason:
            raise Unavailable(f"GPUJUDGE_TEST_REDIS_URL: {reason}")
        yield named
        return
    binary = shutil.which("redis-server") or shutil.which("valkey-server")
    if binary:
        with _own_server(binary) as url:
            yield url
        return
    if _answers(LOCAL) is not None:
        raise Unavailable("no server answers on 127.0.0.1:6379 and redis-server is not installed")
    yield LOCAL
