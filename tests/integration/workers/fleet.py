"""Real worker processes, started, killed and counted by tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from celery import Celery
from sqlalchemy import text
from sqlalchemy.orm import Session

from store.clock import utc_now
from store.database import make_engine, make_session_factory
from store.models import FINAL_STATES, Event, Submission, User
from store.people.accounts import find_user
from store.queue.doorbell import make_doorbell, ring
from store.settings import Settings
from store.submissions import create_submission
from tests.builds import ROOT
from tests.databases import give_schema
from tests.fake_judge import FakePack
from tests.integration.workers.forked import Forked

WorkerProcess = Forked | subprocess.Popen[bytes]


class Fleet:
    """Workers over one database and one broker. ``settings`` reach them through their environment."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings = settings
        self.diary = folder / "diary"
        self.log = folder / "workers.log"
        self.processes: list[tuple[str, WorkerProcess]] = []
        give_schema(settings)
        self.engine = make_engine(settings)
        self.sessions = make_session_factory(self.engine)
        self.reads = make_session_factory(self.engine, read_only=True)
        self.doorbell: Celery = make_doorbell(settings)

    def start(self, kind: str) -> Forked:
        """A real worker with the judge of tests."""
        process = Forked(kind, self.diary, log=self.log, environment=self._environment())
        self.processes.append((kind, process))
        return process

    def start_engine(self, kind: str) -> subprocess.Popen[bytes]:
        """A worker as operators start it; the device is the emulator."""
        argv = [sys.executable, "-m", "workers", kind, *(("--device", "emulator") if kind == "device" else ())]
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                argv,
                cwd=ROOT,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.processes.append((kind, process))
        return process

    def _environment(self) -> dict[str, str]:
        given = self.settings.model_dump(mode="json", exclude_unset=True)
        return {**os.environ, **{f"GPUJUDGE_{name.upper()}": str(value) for name, value in given.items()}}

    def submit(
        self,
        source: str,
        *,
        ring_bell: bool = True,
        device_key: str = "emulator",
        mode: str = "submit",
        pack: object = None,
        username: str = "ada",
        language: str = "cuda",
    ) -> str:
        with self.sessions.begin() as session:
            user = find_user(session, username) or _new_user(session, username)
            submission = create_submission(
                session,
                user=user,
                pack=pack or FakePack(),
                device_key=device_key,
                mode=mode,
                language=language,
                source=source,  # type: ignore[arg-type]
            )
        if ring_bell:
            ring(self.doorbell, submission)
        return submission.public_id

    def submission(self, session: Session, public_id: str) -> Submission:
        return session.query(Submission).filter_by(public_id=public_id).one()

    def state(self, public_id: str) -> str:
        with self.reads() as session:
            return self.submission(session, public_id).state

    def verdict(self, public_id: str) -> str | None:
        with self.reads() as session:
            return self.submission(session, public_id).verdict

    def events(self, public_id: str) -> list[str]:
        with self.reads() as session:
            submission = self.submission(session, public_id)
            found = session.query(Event).filter_by(submission_id=submission.id).order_by(Event.seq)
            return [event.kind for event in found]

    def wait(self, done: Callable[[], bool], what: str, *, within_s: float = 120.0) -> None:
        until_s = time.monotonic() + within_s
        while not done():
            dead = [kind for kind, process in self.processes if process.poll() not in (None, 0, -signal.SIGKILL)]
            if dead or time.monotonic() > until_s:
                log = self.log.read_text()[-6000:] if self.log.exists() else ""
                trouble = f"died by themselves: {dead}" if dead else f"not within {within_s:g} s"
                raise AssertionError(f"{trouble}; waited for: {what}\n{log}")
            time.sleep(0.05)

    def wait_finished(self, *public_ids: str, within_s: float = 180.0) -> None:
        waiting = set(public_ids)

        def done() -> bool:
            with self.reads() as session:
                rows = session.query(Submission.public_id).filter(
                    Submission.public_id.in_(waiting), Submission.state.in_(FINAL_STATES)
                )
                waiting.difference_update(row.public_id for row in rows)
            return not waiting

        self.wait(done, f"{len(public_ids)} submissions finished", within_s=within_s)

    def kill(self, process: WorkerProcess) -> None:
        """As a crash or the kernel would: SIGKILL, to the process alone."""
        process.kill()
        process.wait(timeout=10)

    def freeze(self, process: WorkerProcess) -> None:
        """Stops all its threads, none of them within a transaction: nobody else could ever write, then."""
        with self.sessions.begin() as session:
            # On SQLite the transaction alone is enough: there is one writer at a time.
            if self.engine.dialect.name == "postgresql":
                session.execute(text("LOCK TABLE jobs IN EXCLUSIVE MODE"))
            process.send_signal(signal.SIGSTOP)
            threads = Path(f"/proc/{process.pid}/task")
            self.wait(lambda: all(_state(thread) == "T" for thread in threads.iterdir()), "it is frozen")

    def stop(self) -> None:
        """As a service would be stopped; what does not go is killed, and then an error."""
        stubborn = []
        for _, process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for kind, process in self.processes:
            try:
                process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(timeout=10)
                stubborn.append(kind)
        self.doorbell.close()
        self.engine.dispose()
        assert not stubborn, f"did not stop: {stubborn}\n{self.log.read_text()[-6000:]}"


def _state(thread: Path) -> str:
    """Returns the state of a thread, as proc(5) has it."""
    return (thread / "stat").read_text().rpartition(")")[2].split()[0]


def _new_user(session: Session, username: str) -> User:
    user = User(username=username, username_key=username, created_at=utc_now())
    session.add(user)
    session.flush()
    return user
