"""The parts of ``gpujudge up``: the services to start, and what to prepare before them."""

from __future__ import annotations

import fcntl
import os
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cli import starting_page
from cli.errors import FAILED, CliError, UsageError
from cli.extras import need
from cli.starting_page import StartingPage
from cli.supervise import Service

if TYPE_CHECKING:
    from judge.judgement import DeviceInfo
    from web.settings import WebSettings

Say = Callable[[str], None]
#: What to do once the cause of a failure is mended.
START_AGAIN = "Then stop gpujudge (Ctrl-C in its terminal) and start it again: make run (or gpujudge up)"
OPEN_WITHOUT = "Until then, reload this page to use the website without that device."
_ANOTHER = "Another one beside it needs its own: GPUJUDGE_DATA_DIR=/elsewhere gpujudge up --port 8001"


@contextmanager
def lock_data_dir(data_dir: Path, hint: str = _ANOTHER) -> Iterator[None]:
    """Locks the data folder as long as the process lives. Raises CliError, with ``hint``, if a stack has locked it."""
    with (data_dir / "up.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CliError(
                f"gpujudge is already up with the data in {data_dir}",
                exit_code=FAILED,
                hint=hint,
            ) from None
        yield


def listen(host: str, port: int) -> socket.socket:
    """Returns a socket that listens on ``port``, or on a free one for 0. Raises CliError if the port is in use."""
    try:
        return starting_page.listen(host, port)
    except OSError as error:
        hint = "Another port: gpujudge up --port 8001 (make run ARGS='--port 8001')."
        raise CliError(f"cannot listen on {host}:{port}: {error.strerror}", exit_code=FAILED, hint=hint) from None


@contextmanager
def serve_starting_page(listener: socket.socket) -> Iterator[StartingPage]:
    """Serves the page of what is prepared, and shows there why that ended early."""
    page = StartingPage(listener)
    page.step("Looking for devices")
    page.start()
    try:
        yield page
    except CliError as error:
        page.fail(error.message, "\n".join(filter(None, (error.hint, START_AGAIN))))
        raise
    finally:
        page.stop()


def prepare_devices(devices: Sequence[DeviceInfo], settings: WebSettings, say: Say, page: StartingPage) -> None:
    """Builds the parts that the devices' kinds need, so that the first submission does not wait for them."""
    backends = need("judge.backends.registry", "judge").BUILTIN_BACKENDS
    for kind in dict.fromkeys(device.kind for device in devices):
        page.step(f"Preparing {kind}")
        try:
            backends.of(kind).prepare(settings.judge_settings(), say, page.progress)
        except need("judge.errors", "judge").InternalError as error:
            # The website and other devices work without it.
            say(error.message)
            if error.remedy:
                say(f"    {error.remedy}")
            page.fail(error.message, "\n".join(filter(None, (error.remedy, START_AGAIN, OPEN_WITHOUT))))


def migrate_database(settings: WebSettings, say: Say) -> None:
    """Migrates the database to this version's schema, and says which migrations it made.

    Raises CliError if it is unreachable.
    """
    migrate = need("store.migrate", "server")
    try:
        made = migrate.upgrade(settings)
    except need("sqlalchemy.exc", "server").OperationalError as error:
        where = settings.sqlalchemy_url.render_as_string(hide_password=True)
        raise CliError(f"the database {where} is away: {error.orig}", exit_code=FAILED) from None
    if made:
        say(f"migrated the database: {', '.join(made)}")


def record_packs(settings: WebSettings, say: Say) -> None:
    """Records the versions of the packs in the database. Reports broken packs through ``say``."""
    database, packs = need("store.database", "server"), need("store.packs", "server")
    registry = need("judge.packs.collection.registry", "judge").Registry.load(settings.pack_paths)
    for problem in registry.problems:
        say(f"challenge left out: {problem}")
    engine = database.make_engine(settings)
    try:
        with database.make_session_factory(engine).begin() as session:
            packs.record_packs(session, registry.packs.values())
    finally:
        engine.dispose()


def choose_devices(found: Sequence[DeviceInfo], wanted: Sequence[str]) -> list[tuple[str, DeviceInfo]]:
    """Returns the wanted devices, or all, each with its selector. Raises UsageError for a missing one."""
    backends = need("judge.backends.registry", "judge").BUILTIN_BACKENDS
    named = [(backends.selector(device), device) for device in found]
    for name in wanted:
        if not any(name in (selector, device.key) for selector, device in named):
            raise UsageError(
                f"unknown device '{name}'", hint=f"This machine has {', '.join(selector for selector, _ in named)}."
            )
    return [pair for pair in named if not wanted or pair[0] in wanted or pair[1].key in wanted]


def services(
    settings: WebSettings, selectors: Sequence[str], *, listener: socket.socket, build_workers: int
) -> list[Service]:
    """Returns every service of the stack. The processes read their settings from the environment."""
    port = listener.getsockname()[1]
    # -P: do not import from a folder called web or judge in the current directory.
    python, cwd = (sys.executable, "-P"), Path.cwd()
    env = {"GPUJUDGE_DATA_DIR": str(settings.data_dir), "GPUJUDGE_HOST": settings.host, "GPUJUDGE_PORT": str(port)}
    # On this very socket, so that no connection is refused while the website starts, or starts again.
    bound = ["-b", f"fd://{listener.fileno()}"]
    program = "web.serving.asgi:create_server_from_env()"
    web = [*python, "-m", "gunicorn", "-c", "python:web.serving.gunicorn_conf", *bound, program]
    found = [Service("web", web, cwd, env, fds=(listener.fileno(),))]
    for number in range(build_workers):
        found.append(Service(f"build-{number + 1}", [*python, "-m", "workers", "build"], cwd, env))
    for selector in selectors:
        argv = [*python, "-m", "workers", "device", "--device", selector]
        found.append(Service(f"device-{selector.replace(':', '-')}", argv, cwd, env))
    found.append(Service("sweeper", [*python, "-m", "workers", "sweeper"], cwd, env))
    return found


def remove_leftovers() -> None:
    """Removes the cgroups and scratch folders of services that had to be killed: no sweeper runs any more."""
    cgroups, toolchain = need("judge.sandbox.cgroup_hierarchy", "judge"), need("judge.compile.toolchain", "judge")
    cgroups.remove_stale(cgroups.find_hierarchy())
    toolchain.remove_scratch()


def default_build_workers() -> int:
    """Returns a quarter of the CPUs, at least 1: nvcc fills one, and the emulator uses the rest."""
    return max(1, len(os.sched_getaffinity(0)) // 4)
