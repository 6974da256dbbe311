"""Starts a private gpujudge with `gpujudge up`, on a free port with a new data folder, and stops it at the end."""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx

START_S = 240.0


@dataclass(frozen=True)
class Stack:
    """A running gpujudge: ``process`` is `gpujudge up`, and ``token`` belongs to a new user."""

    address: str
    data_dir: Path
    username: str
    password: str
    token: str
    process: subprocess.Popen[str]

    def client(self) -> httpx.Client:
        """Returns an API client signed in as the user."""
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        return httpx.Client(base_url=f"{self.address}/api/v1/", headers=headers, timeout=30.0)


@contextlib.contextmanager
def running_stack(data_dir: Path, *arguments: str, env: Mapping[str, str] | None = None) -> Iterator[Stack]:
    """Starts everything with one command. Raises RuntimeError if it prints no address."""
    # Rate limits are not measured here.
    rates = {
        "GPUJUDGE_SUBMISSION_RATE": "100000 per minute",
        "GPUJUDGE_LOG_IN_RATE": "100000 per minute",
        "GPUJUDGE_MAX_WAITING": "0",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "cli.main", "up", "--port", "0", *arguments],
        env={**os.environ, **rates, "GPUJUDGE_DATA_DIR": str(data_dir), **(env or {})},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        address = _address(process)
        username, password = "bench" + secrets.token_hex(4), secrets.token_hex(12)
        _sign_up(data_dir, username, password, env or {})
        answer = httpx.post(
            f"{address}/api/v1/tokens", json={"username": username, "password": password, "name": "stack"}, timeout=30.0
        )
        answer.raise_for_status()
        yield Stack(address, data_dir, username, password, answer.json()["token"], process)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=40)
        finally:
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    until = time.monotonic() + START_S
    while (left_s := until - time.monotonic()) > 0:
        if not select.select([process.stdout], [], [], left_s)[0]:
            break
        line = process.stdout.readline()
        if not line:
            break
        if line.startswith("gpujudge is at "):
            return line.split()[-1]
    raise RuntimeError(f"gpujudge up gave no address (status {process.poll()})")


def _sign_up(data_dir: Path, username: str, password: str, env: Mapping[str, str]) -> None:
    """Writes a user into the database, since signing up needs a browser."""
    from store.database import make_engine, make_session_factory
    from store.people.accounts import create_user
    from store.settings import Settings

    settings = Settings(data_dir=data_dir, database_url=env.get("GPUJUDGE_DATABASE_URL"))
    engine = make_engine(settings)
    try:
        with make_session_factory(engine).begin() as session:
            create_user(session, username=username, password=password)
    finally:
        engine.dispose()
