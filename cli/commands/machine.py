"""The commands ``up``, ``worker``, ``doctor`` and ``db``, for operators of a server."""

from __future__ import annotations

import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import options, stack, starting_page
from cli.console import print_json, print_text, say
from cli.database import require_database
from cli.doctor import Check, essential_checks, judge_checks, server_checks
from cli.errors import FAILED, CliError, UsageError
from cli.extras import MissingExtra, need
from cli.local_setup import local_settings
from cli.supervise import Supervisor
from store.operation.environment import SettingsProblem

if TYPE_CHECKING:
    from judge.settings import JudgeSettings
    from web.settings import WebSettings

#: Seconds after which the address is printed even if a worker has not reported yet.
_READY_S = 40.0
_OWN_HOSTS = ("127.0.0.1", "localhost", "::1")
_NO_JAIL = "See above. For your own code on your own machine, and nothing else: GPUJUDGE_JAIL=off gpujudge up"

db_app = typer.Typer(help="The server's database.", no_args_is_help=True)


def load_settings(**changes: Any) -> WebSettings:
    """Returns the server's settings from GPUJUDGE_* and ``changes`` that are not None. Raises UsageError."""
    module = need("web.settings", "server")
    # The settings import little; these checks report a missing server package by name, and at once.
    need("celery", "server")
    need("flask", "server")
    read = need("store.settings", "server").read_settings
    try:
        given = {key: value for key, value in changes.items() if value is not None}
        made: WebSettings = read(module.WebSettings, **given)
        read(need("logs", "server").LogSettings)
        read(need("logs.traces", "server").TraceSettings)
    except SettingsProblem as error:
        raise UsageError(error.message, hint=error.remedy) from None
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
    # Until the supervisor takes over, SIGTERM stops this process and its compiler as Ctrl-C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with (
        stack.lock_data_dir(data_dir),
        starting_page.take_over(settings.port) or stack.listen(settings.host, settings.port) as listener,
    ):
        with stack.serve_starting_page(listener) as page:
            backends = need("judge.backends.registry", "judge").BUILTIN_BACKENDS
            found = backends.list_devices(settings.judge_settings())
            chosen = stack.choose_devices(found, device or ())
            _check(settings)
            page.step("Reading the challenges")
            stack.migrate_database(settings, say)
            stack.record_packs(settings, say)
            stack.prepare_devices([one for _, one in chosen], settings, say, page)
        supervisor = Supervisor(
            stack.services(
                settings,
                [selector for selector, _ in chosen],
                listener=listener,
                build_workers=build_workers or stack.default_build_workers(),
            ),
            log_dir=data_dir / "logs",
            say=say,
            grace_s=settings.stop_grace_s + 4,
        )
        announce = _Announcement(
            starting_page.address(settings.host, listener.getsockname()[1]), {one.key for _, one in chosen}
        )
        try:
            supervisor.run(tick=announce.tick)
        finally:
            stack.remove_leftovers()
        say("stopped")


class _Announcement:
    """Prints the address once the website answers and the devices' workers have reported."""

    def __init__(self, address: str, devices: set[str]) -> None:
        self._address, self._devices = address, devices
        self._until = time.monotonic() + _READY_S
        self._done = False

    def tick(self) -> None:
        """Checks whether to print the address. Does nothing after it was printed."""
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
        """Returns the devices without an online worker; None if the website does not answer."""
        import httpx

        with suppress(httpx.HTTPError, ValueError, KeyError):
            answer = httpx.get(f"{self._address}/api/v1/devices", timeout=2.0)
            if answer.status_code == 200:
                return self._devices - {one["key"] for one in answer.json()["devices"] if one["online"]}
        return None


def _check(settings: WebSettings) -> None:
    """Prints the obstacles to judging, before the first submission fails because of them.

    Raises CliError if other people's code would run without the jail.
    """
    if settings.jail == "off" and settings.host not in _OWN_HOSTS:
        raise CliError(
            f"GPUJUDGE_JAIL=off is for your own code, and {settings.host} is for others too",
            exit_code=FAILED,
            hint="Leave the jail on, or listen on 127.0.0.1.",
        )
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
    require_database(load_settings())
    argv = [kind] if device is None else [kind, "--device", device]
    raise typer.Exit(need("workers.main", "server").main(argv))


def doctor(as_json: options.Json = False) -> None:
    """Say what this machine can do, what it lacks, and what to do about it. Exits with 1 when it lacks something."""
    checks = _all_checks()
    lacking = [check for check in checks if check.required and not check.ok]
    if as_json:
        plain = [
            {
                "name": c.name, "ok": c.ok, "required": c.required, "warning": c.warning, "detail": c.detail,
                "remedy": c.remedy,
            }
            for c in checks
        ]  # fmt: skip
        print_json({"ok": not lacking, "checks": plain})
    else:
        for check in checks:
            mark = "WARN" if check.warning else "ok  " if check.ok else "LACK" if check.required else "none"
            print_text(f"{mark}  {check.name}: {check.detail}")
            if check.remedy and (check.warning or not check.ok):
                print_text("".join(f"        {line}\n" for line in check.remedy.splitlines()))
    if lacking:
        raise CliError(f"{len(lacking)} of {len(checks)} checks failed", exit_code=FAILED)


def judge_settings() -> JudgeSettings:
    """Returns the engine's settings: the server's, or the local ones if no server is installed."""
    try:
        return load_settings().judge_settings()
    except MissingExtra:
        return local_settings(None)


def _all_checks() -> list[Check]:
    need("judge.pipeline", "judge")
    try:
        settings = load_settings()
    except MissingExtra:
        # Only the judge is installed, so the server's checks do not apply.
        return list(judge_checks(local_settings(None)))
    except UsageError as error:
        left_out = "Correct it, or unset it. The other checks of the server are left out until then."
        remedy = f"{error.hint}\n{left_out}" if error.hint else left_out
        wrong = Check("settings", False, error.message, remedy)
        try:
            return [wrong, *judge_checks(local_settings(None))]
        except UsageError:
            return [wrong]
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
    stack.migrate_database(settings, say)
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
