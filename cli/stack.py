"""What `gpujudge up` starts: the web server, the workers, and what has to be there before them."""

from __future__ import annotations

import fcntl
import os
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cli.errors import FAILED, CliError, UsageError
from cli.extras import need
from cli.supervise import Service

if TYPE_CHECKING:
    from judge.judgement import DeviceInfo
    from store.settings import Settings

Say = Callable[[str], None]


@contextmanager
def only_one(data_dir: Path) -> Iterator[None]:
    """Holds the data folder; its lock goes with the process. Raises CliError when another stack has it."""
    with (data_dir / "up.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CliError(
                f"gpujudge is already up with the data in {data_dir}",
                exit_code=FAILED,
                hint="Another one beside it needs its own: GPUJUDGE_DATA_DIR=/elsewhere gpujudge up --port 8001",
            ) from None
        yield


def choose_port(host: str, port: int) -> int:
    """``port``, or a free one for 0. Raises CliError when it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            hint = "Another port: gpujudge up --port 8001 (make run ARGS='--port 8001')."
            raise CliError(f"cannot listen on {host}:{port}: {error.strerror}", exit_code=FAILED, hint=hint) from None
        return int(probe.getsockname()[1])


def prepare_emulator(settings: Settings, say: Say) -> None:
    """Its native library, so that the first submission does not wait for it."""
    native = need("emulator.native", "judge")
    if not any((settings.data_dir / "emulator").glob("*/libcudart*")):
        say("compiling the emulator (once; half a minute)")
    try:
        native.ensure(settings.data_dir / "emulator")
    except native.NativeBuildError as error:
        # The website is of use without it, and so is a GPU.
        say(f"the emulator cannot be built: {error}")


def migrate_database(settings: Settings) -> None:
    """Brings it to this version's schema. Raises CliError when it is away."""
    migrate = need("store.migrate", "server")
    try:
        migrate.upgrade(settings)
    except need("sqlalchemy.exc", "server").OperationalError as error:
        where = settings.sqlalchemy_url.render_as_string(hide_password=True)
        raise CliError(f"the database {where} is away: {error.orig}", exit_code=FAILED) from None


def record_packs(settings: Settings, say: Say) -> None:
    """Writes the versions of the packs into the database; broken ones are named."""
    database, packs = need("store.database", "server"), need("store.packs", "server")
    registry = need("judge.packs.registry", "judge").Registry.load(settings.pack_paths)
    for problem in registry.problems:
        say(f"challenge left out: {problem}")
    engine = database.make_engine(settings)
    try:
        with database.make_session_factory(engine).begin() as session:
            packs.record_packs(session, registry.packs.values())
    finally:
        engine.dispose()


def choose_devices(found: Sequence[DeviceInfo], wanted: Sequence[str]) -> list[tuple[str, DeviceInfo]]:
    """Those wanted, or all, each with the name that a worker takes. Raises UsageError for one that is not there."""
    named = [
        ("emulator" if device.kind == "emulator" else f"cuda:{device.details['ordinal']}", device) for device in found
    ]
    for name in wanted:
        if not any(name in (selector, device.key) for selector, device in named):
            raise UsageError(
                f"there is no device {name} here", hint=f"There are: {', '.join(selector for selector, _ in named)}."
            )
    return [pair for pair in named if not wanted or pair[0] in wanted or pair[1].key in wanted]


def services(settings: Settings, selectors: Sequence[str], *, port: int, build_workers: int) -> list[Service]:
    """Every process of the stack. They read their settings from the environment, as `Settings` does."""
    # -P: a folder called web or judge that happens to lie where this was started is not ours.
    python, cwd = (sys.executable, "-P"), Path.cwd()
    env = {"GPUJUDGE_DATA_DIR": str(settings.data_dir), "GPUJUDGE_HOST": settings.host, "GPUJUDGE_PORT": str(port)}
    web = [*python, "-m", "gunicorn", "-c", "python:web.gunicorn_conf", "web.app:create_app_from_env()"]
    found = [Service("web", web, cwd, env)]
    for number in range(build_workers):
        found.append(Service(f"build-{number + 1}", [*python, "-m", "workers", "build"], cwd, env))
    for selector in selectors:
        argv = [*python, "-m", "workers", "device", "--device", selector]
        found.append(Service(f"device-{selector.replace(':', '-')}", argv, cwd, env))
    found.append(Service("sweeper", [*python, "-m", "workers", "sweeper"], cwd, env))
    return found


def default_build_workers() -> int:
    """nvcc keeps a core busy, and the emulator takes all it can get."""
    return max(1, len(os.sched_getaffinity(0)) // 4)
