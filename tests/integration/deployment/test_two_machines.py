"""Two machines that share PostgreSQL and Redis and nothing else judge what is sent to one of them.

A machine is a network namespace with a data folder that the other cannot see. The website and a builder are on the
first, a builder and the device on the second: what the first builds reaches the second through the database.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import make_url

from store.clock import utc_now
from store.database import make_engine, make_session_factory
from store.devices import upsert_device
from store.migrate import upgrade
from store.models import User
from store.people.accounts import create_token
from store.settings import Settings
from tests import gate
from tests.fake_judge import EMULATOR
from tests.integration.workers.conftest import QUICK

ROOT = Path(__file__).resolve().parents[3]
PORT = 8000


class Machine:
    """A network namespace at ``address``, whose only neighbor is this one, at ``gateway``."""

    def __init__(self, name: str, network: str, data_dir: Path) -> None:
        self.name, self.data_dir = name, data_dir
        self.gateway, self.address = f"{network}.1", f"{network}.2"
        self.log = data_dir.with_suffix(".log")
        self.diary = data_dir.with_suffix(".diary")
        self.processes: list[subprocess.Popen[bytes]] = []
        outer, inner = f"{name}o", f"{name}i"
        ip("netns", "add", name)
        ip("link", "add", outer, "type", "veth", "peer", "name", inner)
        ip("link", "set", inner, "netns", name)
        for where, link, address in ((None, outer, self.gateway), (name, inner, self.address)):
            ip("addr", "add", f"{address}/30", "dev", link, netns=where)
            ip("link", "set", link, "up", netns=where)
        ip("link", "set", "lo", "up", netns=name)
        data_dir.mkdir()

    def start(self, argv: list[str], hidden: Path, **settings: Any) -> None:
        """Starts a process here. An empty folder stands before it in place of ``hidden``."""
        given = {"DATA_DIR": self.data_dir, "HOST": self.address, "PORT": PORT, "LOG_FORMAT": "json", **settings}
        environment = {**os.environ, **{f"GPUJUDGE_{key.upper()}": str(value) for key, value in given.items()}}
        inside = ["sh", "-c", f'mount -t tmpfs none "{hidden}" && exec "$@"', "sh", sys.executable, *argv]
        with self.log.open("ab") as log:
            self.processes.append(
                subprocess.Popen(
                    ["ip", "netns", "exec", self.name, *inside],
                    cwd=ROOT,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )

    def stop(self) -> None:
        for process in self.processes:
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(timeout=20)
            finally:
                process.kill()
                process.wait()

    def remove(self) -> None:
        with contextlib.suppress(subprocess.CalledProcessError):
            ip("netns", "del", self.name)


def ip(*argv: str, netns: str | None = None) -> None:
    """Runs ``ip``. Raises CalledProcessError with what it said."""
    command = ["ip", *(("-n", netns) if netns else ()), *argv]
    subprocess.run(command, check=True, capture_output=True, text=True)


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[tuple[Machine, Machine]]:
    unique = secrets.token_hex(3)
    first, second = secrets.randbelow(200) + 20, secrets.randbelow(250)
    with contextlib.ExitStack() as stack:
        made = []
        for number, name in enumerate(("front", "back")):
            try:
                machine = Machine(f"gj{unique}{name[0]}", f"10.{first}.{second + number}", tmp_path / name)
            except (OSError, subprocess.CalledProcessError) as error:
                gate.missing(f"no network namespace can be made: {getattr(error, 'stderr', None) or error}")
            stack.callback(machine.remove)
            made.append(machine)
        yield made[0], made[1]


@contextlib.contextmanager
def forwarding(address: str, host: str, port: int) -> Iterator[int]:
    """Forwards connections to a port of ``address`` (which is given) to a server of this machine."""

    async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while piece := await source.read(1 << 16):
                target.write(piece)
                await target.drain()
        target.close()

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers = [writer]
        try:
            server_reader, server_writer = await asyncio.open_connection(host, port)
            writers.append(server_writer)
            await asyncio.gather(copy(reader, server_writer), copy(server_reader, writer))
        finally:
            for each in writers:
                each.transport.abort()

    # In a thread of its own from the start: a browser in the tests before may have left a loop in this one.
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def end(server: asyncio.Server) -> None:
        server.close()
        # What was accepted just before becomes a task in a later turn of the loop, and sockets are closed in one.
        await asyncio.sleep(0.1)
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await asyncio.sleep(0.1)

    try:
        server = asyncio.run_coroutine_threadsafe(asyncio.start_server(forward, address, 0), loop).result(60)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            asyncio.run_coroutine_threadsafe(end(server), loop).result(60)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def wait(done: Callable[[], bool], what: str, *machines: Machine, within_s: float = 180.0) -> None:
    until_s = time.monotonic() + within_s
    while not done():
        if time.monotonic() > until_s:
            logs = "\n".join(machine.log.read_text()[-4000:] for machine in machines)
            raise AssertionError(f"waited for: {what}\n{logs}")
        time.sleep(0.05)


@pytest.mark.postgres
@pytest.mark.redis
@pytest.mark.slow(20)
def test_what_one_machine_builds_the_other_runs(
    machines: tuple[Machine, Machine], postgres_url: str, redis_url: str
) -> None:
    front, back = machines
    database, broker = make_url(postgres_url), make_url(redis_url)
    settings = Settings(data_dir=front.data_dir, database_url=postgres_url, redis_url=redis_url)
    upgrade(settings)
    engine = make_engine(settings)
    with make_session_factory(engine).begin() as session:
        upsert_device(session, EMULATOR, now=utc_now())
        user = User(username="ada", username_key="ada", created_at=utc_now())
        session.add(user)
        session.flush()
        token = create_token(session, user=user, name="test")[1]
    with contextlib.ExitStack() as stack:
        stack.callback(engine.dispose)
        reached = {}
        for machine in machines:
            ports = [
                stack.enter_context(forwarding(machine.gateway, url.host or "127.0.0.1", url.port or standard))
                for url, standard in ((database, 5432), (broker, 6379))
            ]
            there = database.set(host=machine.gateway, port=ports[0]).render_as_string(hide_password=False)
            reached[machine] = {
                **QUICK,
                "database_url": there,
                "redis_url": f"redis://{machine.gateway}:{ports[1]}/{broker.database or 0}",
            }
            stack.callback(machine.stop)
        worker = ["-m", "tests.integration.workers.worker_process"]
        site = ["-m", "gunicorn", "-c", "python:web.serving.gunicorn_conf", "web.serving.asgi:create_server_from_env()"]
        front.start(site, back.data_dir, **reached[front], submission_rate="1000 per minute")
        front.start([*worker, "build", str(front.diary)], back.data_dir, **reached[front])
        for kind in ("build", "device", "sweeper"):
            back.start([*worker, kind, str(back.diary)], front.data_dir, **reached[back])

        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        with httpx.Client(base_url=f"http://{front.address}:{PORT}", headers=headers) as client:

            def answers() -> bool:
                with contextlib.suppress(httpx.TransportError):
                    return client.get("/healthz").status_code == 200
                return False

            def diary(machine: Machine) -> str:
                return machine.diary.read_text() if machine.diary.exists() else ""

            def judged() -> list[str]:
                found = [client.get(f"/api/v1/submissions/{public_id}").json() for public_id in sent]
                return [one["judgement"]["verdict"] for one in found if one["state"] == "done"]

            wait(answers, "the website", front)
            sent = []
            for number in range(12):
                source = f"name={number}\nbuild_s=0.4\nvalue={number + 1}"
                body = {"challenge": "reduction", "device": "emulator", "mode": "submit", "source": source}
                answer = client.post("/api/v1/submissions", json=body)
                assert answer.status_code == 201, answer.text
                sent.append(answer.json()["id"])
            wait(lambda: len(judged()) == len(sent), "all judged", front, back)
            assert judged() == ["AC"] * len(sent)
        built = {machine: diary(machine).count("build ") for machine in machines}
        assert sum(built.values()) == len(sent), "something was built twice"
        assert min(built.values()) > 0, "one of the builders did nothing"
        assert (diary(front).count("run "), diary(back).count("run ")) == (0, len(sent))
    # Neither of them wrote into the folder of the other, nor is the broker there.
    assert not (back.data_dir / "broker").exists()
    assert not (front.data_dir / "broker").exists()
    assert (front.data_dir / "secret_key").exists()
    assert not (back.data_dir / "secret_key").exists()
