"""``up``, ``worker``, ``doctor`` and ``db``: the machine that a server runs on."""

from __future__ import annotations

import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import httpx
import typer

from cli import options, stack
from cli.commands.local import local_settings
from cli.console import print_json, print_text, say
from cli.doctor import Check, essential_checks, judge_checks, server_checks
from cli.errors import FAILED, CliError, UsageError
from cli.extras import need
from cli.supervise import Supervisor

if TYPE_CHECKING:
    from judge.settings import JudgeSettings
    from store.settings import Settings

#: After this the address is given even though a worker has not come up yet.
_READY_S = 40.0
_OWN_HOSTS = ("127.0.0.1", "localhost", "::1")
_NO_JAIL = "See above. For your own code on your own machine, and nothing else: GPUJUDGE_JAIL=off gpujudge up"

db_app = typer.Typer(help="The server's database.", no_args_is_help=True)


def load_settings(**changes: Any) -> Settings:
    """The server's settings from GPUJUDGE_*, with ``changes`` that are not None. Raises UsageError for a wrong one."""
    module = need("store.settings", "server")
    # Settings alone need little; this says at once, and by its right name, what the server lacks.
    need("celery", "server")
    need("flask", "server")
    try:
        made: Settings = module.Settings(**{key: value for key, value in changes.items() if value is not None})
    except need("pydantic", "server").ValidationError as error:
        wrong = [f"GPUJUDGE_{str(one['loc'][0]).upper()}: {one['msg']}" for one in error.errors()]
        raise UsageError("; ".join(wrong)) from None
    return made


def up(
    host: Annotated[
        str | None, typer.Option(help="Where to listen; else GPUJUDGE_HOST, else this machine only.")
    ] = None,
    port: Annotated[int | None, typer.Option(help="0 takes a free one; else GPUJUDGE_PORT, else 8000.")] = None,
    device: Annotated[
        list[str] | None,
        typer.Option("--device", "-d", help="Offer only this one (may be repeated); else all there are."),
    ] = None,
    build_workers: Annotated[int | None, typer.Option(min=1, help="Builds at a time.")] = None,
) -> None:
    """Start everything: database, website, workers. Ctrl-C stops all of it.

    Prints the address once submissions are judged. Needs no GPU, PostgreSQL or Redis; GPUJUDGE_DATABASE_URL and
    GPUJUDGE_REDIS_URL name them where they are to be used. Logs go to the data folder.
    """
    settings = load_settings(host=host, port=port)
    data_dir = need("store.settings", "server").prepare_data_dir(settings)
    # Until the supervisor takes over, a SIGTERM ends this (and a compiler it runs) as Ctrl-C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with stack.only_one(data_dir):
        chosen_port = stack.choose_port(settings.host, settings.port)
        found = need("judge.devices.catalog", "judge").list_devices(settings.judge_settings())
        chosen = stack.choose_devices(found, device or ())
        _check(settings)
        stack.migrate_database(settings)
        stack.record_packs(settings, say)
        if any(one.kind == "emulator" for _, one in chosen):
            stack.prepare_emulator(settings, say)
        supervisor = Supervisor(
            stack.services(
                settings,
                [selector for selector, _ in chosen],
                port=chosen_port,
                build_workers=build_workers or stack.default_build_workers(),
            ),
            log_dir=data_dir / "logs",
            say=say,
            grace_s=settings.stop_grace_s + 4,
        )
        shown_host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(settings.host, settings.host)
        announce = _Announcement(f"http://{shown_host}:{chosen_port}", {one.key for _, one in chosen})
        supervisor.run(tick=announce.tick)
        say("stopped")


class _Announcement:
    """Says the address, once, when the website answers and the devices' workers have reported."""

    def __init__(self, address: str, devices: set[str]) -> None:
        self._address, self._devices = address, devices
        self._until = time.monotonic() + _READY_S
        self._done = False

    def tick(self) -> None:
        """Called often; costs nothing once said."""
        if self._done:
            return
        missing = self._missing()
        if missing is None or (missing and time.monotonic() < self._until):
            return
        self._done = True
        if missing:
            say(f"no worker has reported yet for: {', '.join(sorted(missing))} (`gpujudge doctor` may say why)")
        say(f"devices: {', '.join(sorted(self._devices - missing)) or 'none'}; Ctrl-C stops everything")
        print_text(f"gpujudge is at {self._address}")

    def _missing(self) -> set[str] | None:
        """The devices that are not there yet; None when the website itself is not."""
        with suppress(httpx.HTTPError, ValueError, KeyError):
            answer = httpx.get(f"{self._address}/api/v1/devices", timeout=2.0)
            if answer.status_code == 200:
                return self._devices - {one["key"] for one in answer.json()["devices"] if one["online"]}
        return None


def _check(settings: Settings) -> None:
    """What will keep kernels from being judged is said at the start, not at the first submission. Raises CliError where
    other people's code would run without the jail."""
    if settings.jail == "off" and settings.host not in _OWN_HOSTS:
        raise CliError(
            f"GPUJUDGE_JAIL=off is for your own code, and {settings.host} is for others too", exit_code=FAILED,
            hint="Leave the jail on, or listen on 127.0.0.1.",
        )  # fmt: skip
    open_walls = 0
    for check in essential_checks(settings.judge_settings()):
        if check.required and not check.ok:
            open_walls += not check.toolchain
            say(f"{check.name}: {check.detail}", "bold red")
            for line in check.remedy.splitlines():
                say(f"    {line}")
    if open_walls:
        raise CliError("submissions cannot be kept in their jail on this machine", exit_code=FAILED, hint=_NO_JAIL)


def worker(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="build, device or sweeper.", show_default=False)],
    device: Annotated[str | None, typer.Option("--device", "-d", help="For device: emulator, or cuda:0.")] = None,
) -> None:
    """Run one worker process in the foreground; `up` starts all that one machine needs."""
    if kind not in ("build", "device", "sweeper"):
        raise UsageError(f"there is no worker {kind!r}", hint="There are: build, device, sweeper.")
    if (kind == "device") != (device is not None):
        raise UsageError("--device goes with the worker `device`, and only with it")
    load_settings()
    argv = [kind] if device is None else [kind, "--device", device]
    raise typer.Exit(need("workers.main", "server").main(argv))


def doctor(as_json: options.Json = False) -> None:
    """Say what this machine can do, what it lacks, and what to type about it. Exits with 1 when it lacks something."""
    checks = _all_checks()
    lacking = [check for check in checks if check.required and not check.ok]
    if as_json:
        plain = [
            {"name": c.name, "ok": c.ok, "required": c.required, "detail": c.detail, "remedy": c.remedy} for c in checks
        ]
        print_json({"ok": not lacking, "checks": plain})
    else:
        for check in checks:
            mark = "ok  " if check.ok else "LACK" if check.required else "none"
            print_text(f"{mark}  {check.name}: {check.detail}")
            if not check.ok and check.remedy:
                print_text("".join(f"        {line}\n" for line in check.remedy.splitlines()))
    if lacking:
        raise CliError(f"{len(lacking)} of {len(checks)} checks failed", exit_code=FAILED)


def judge_settings() -> JudgeSettings:
    """The engine's settings of the server that this machine has, or of one that only judges."""
    try:
        return load_settings().judge_settings()
    except UsageError:
        return local_settings(None)


def _all_checks() -> list[Check]:
    need("judge.pipeline", "judge")
    try:
        settings = load_settings()
    except UsageError:
        # Only the judge is installed: what a server needs is of no interest.
        return list(judge_checks(local_settings(None)))
    return [*judge_checks(settings.judge_settings()), *server_checks(settings)]


@db_app.callback()
def _db() -> None:
    """The server's database."""


@db_app.command("upgrade")
def db_upgrade(
    no_packs: Annotated[bool, typer.Option("--no-packs", help="Leave the challenges' versions unrecorded.")] = False,
    as_json: options.Json = False,
) -> None:
    """Bring the database to this version's schema, and record the challenges. Harmless when it is there already."""
    settings = load_settings()
    need("store.settings", "server").prepare_data_dir(settings)
    migrate, database = need("store.migrate", "server"), need("store.database", "server")
    stack.migrate_database(settings)
    if not no_packs:
        stack.record_packs(settings, say)
    engine = database.make_engine(settings)
    try:
        revision = migrate.current_revision(engine)
    finally:
        engine.dispose()
    say(f"the database is at revision {revision}")
    if as_json:
        print_json({"revision": revision})
