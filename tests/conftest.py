"""The requirements gate, the choice of cases of exhaustive tests, and the fixtures that stand for real services.

A test marked ``jail``, ``nvcc``, ``cxx``, ``browser``, ``postgres``, ``redis`` or ``gpu`` is skipped, with the reason
in the summary, where the machine lacks the thing. GPUJUDGE_TEST_REQUIRE=all turns such a skip into a failure. GPU tests
and those of the container images run only when asked for (``make test-gpu``, ``make test-images``).

Every session imports this file first, so it imports no more than what any test needs.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from store.start import importing
from tests import builds, crashes, early_imports, gate, ordering, recorded, sampling

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController

    from judge.packs.pack import Pack
    from judge.settings import JudgeSettings

# Before any process is started: all of them share the native libraries that one of them built.
os.environ.setdefault("GPUJUDGE_LIBRARY_CACHE", str(builds.LIBRARIES))


def pytest_addoption(parser: pytest.Parser) -> None:
    sampling.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    _heed_signals()
    sampling.configure(config)
    recorded.configure(config)
    # How long an example takes depends on what else the machine does.
    settings.register_profile("gpujudge", deadline=None)
    settings.load_profile("gpujudge")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: WorkerController) -> None:
    sampling.configure_process(node.workerinput)
    recorded.configure_process(node.workerinput)
    crashes.configure_process(node)


def pytest_sessionstart(session: pytest.Session) -> None:
    crashes.start(session.config)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: WorkerController, error: object) -> None:
    crashes.report(node, error)


def _heed_signals() -> None:
    """Undoes that Ctrl-C and the end of the terminal are ignored, since all that a test starts would ignore them too.

    A shell that puts the tests in the background, nohup, and a command of ours that ends within this process do that.
    """
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)


def pytest_report_header(config: pytest.Config) -> str:
    scope = sampling.scope_of(config)
    drawn = "" if scope is sampling.Scope.ALL else f" ({sampling.SEED}={sampling.seed()})"
    return f"cases of exhaustive tests: {scope.value}{drawn}"


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Runs few tests in this process, since starting others would take longer.

    They are tests that are named (``file::test``), and those of one file of ``tests/unit``.
    """
    if all("::" in argument for argument in config.args):
        return 0
    file = Path(config.args[0]).absolute()
    if len(config.args) == 1 and file.suffix == ".py" and builds.ROOT / "tests" / "unit" in file.parents:
        return 0
    # More than there are processors: many tests wait, for a process, a lease, or a clock.
    return 2 * len(os.sched_getaffinity(0))


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Lets the garbage collector pass over all that is collected here, now and while the tests run.

    It stays until the end: going through it again and again took a fifth of the time of tests that make many objects.
    """
    with importing():
        early_imports.import_files(session.config)
        return (yield)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if wrong := gate.misplaced(items, config.rootpath):
        raise pytest.UsageError("\n".join(wrong))
    left = []
    for marker in ("gpu", "images"):
        if marker not in config.option.markexpr:
            left += [item for item in items if item.get_closest_marker(marker)]
            items[:] = [item for item in items if not item.get_closest_marker(marker)]
    if sampling.scope_of(config) is sampling.Scope.REST:
        recorded.mark_known(items)
    items[:], not_drawn = sampling.select(items, sampling.scope_of(config))
    if left := left + not_drawn:
        config.hook.pytest_deselected(items=left)
    if config.option.at_most_seconds < float("inf"):
        sampling.shuffle(items)
    if processes := getattr(config, "workerinput", {}).get("workercount"):
        items[:] = ordering.long_first(items, processes)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Says how many cases were too late, and which challenges the ledger has as another engine verified them."""
    late = [report for report in terminalreporter.getreports("skipped") if sampling.TOO_LATE in str(report.longrepr)]
    if late:
        terminalreporter.write_line(f"{len(late)} cases were not run: {sampling.TOO_LATE}")
    if sampling.scope_of(config) is not sampling.Scope.REST:
        return
    from judge.verify.ledger import Digests, read_ledger

    packs = builds.ROOT / "challenges"
    ledger = read_ledger(packs)
    folders = sorted(path.parent for path in packs.glob("*/challenge.toml"))
    stale = [folder.name for folder in folders if not Digests.of(folder).are_in(ledger.get(folder.name))]
    if stale:
        named = ", ".join(stale[:5]) + (", …" if len(stale) > 5 else "")
        terminalreporter.write_line(
            f"not verified with this engine (make verify-all): {len(stale)} challenges ({named})"
        )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    sampling.skip_if_late()
    gate.require(item)
    _heed_signals()
    # A marker stands for the service, whether or not the test takes its URL.
    for name, fixture in (("postgres", "postgres_server"), ("redis", "redis_server_url")):
        if item.get_closest_marker(name) and fixture not in getattr(item, "fixturenames", ()):
            item.fixturenames.append(fixture)  # type: ignore[attr-defined]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    recorded.keep_passed(item, report)
    return report


@pytest.fixture(scope="session")
def _postgres_or_reason() -> Iterator[tuple[str | None, str]]:
    # The reason is kept rather than raised: a session fixture that skips is asked again, slowly, by each test.
    from tests.services import postgres

    with contextlib.ExitStack() as stack:
        try:
            outcome: tuple[str | None, str] = (stack.enter_context(postgres.server()), "")
        except postgres.Unavailable as error:
            outcome = (None, f"PostgreSQL: {error}")
        yield outcome


@pytest.fixture(scope="session")
def _redis_or_reason() -> Iterator[tuple[str | None, str]]:
    from tests.services import redis_server

    with contextlib.ExitStack() as stack:
        try:
            outcome: tuple[str | None, str] = (stack.enter_context(redis_server.server()), "")
        except redis_server.Unavailable as error:
            outcome = (None, f"Redis: {error}")
        yield outcome


@pytest.fixture
def postgres_server(_postgres_or_reason: tuple[str | None, str]) -> str:
    """The URL of a server where databases can be made."""
    url, reason = _postgres_or_reason
    return url if url is not None else gate.missing(reason)


@pytest.fixture
def new_postgres_database(postgres_server: str) -> Iterator[Callable[..., str]]:
    """Makes new, empty databases (SQLAlchemy URLs), in UTF8 or a given encoding, all gone after the test."""
    from tests import databases
    from tests.services import postgres

    with contextlib.ExitStack() as stack:

        def make(encoding: str = "UTF8") -> str:
            url = stack.enter_context(postgres.new_database(postgres_server, encoding))
            stack.callback(databases.keep, url)
            return url

        yield make


@pytest.fixture
def postgres_url(new_postgres_database: Callable[..., str]) -> str:
    """The SQLAlchemy URL of a new, empty PostgreSQL database."""
    return new_postgres_database()


@pytest.fixture
def redis_server_url(_redis_or_reason: tuple[str | None, str]) -> str:
    url, reason = _redis_or_reason
    return url if url is not None else gate.missing(reason)


@pytest.fixture
def redis_url(redis_server_url: str) -> str:
    """The URL of an empty Redis database."""
    import redis

    with redis.Redis.from_url(redis_server_url) as client:
        client.flushdb()
    return redis_server_url


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """The browser to drive."""
    from tests.services import probes

    return probes.find_chromium() or gate.missing("Chromium is not installed")


@pytest.fixture(scope="session")
def oidc_issuer() -> Iterator[str]:
    """The address of an OpenID Connect issuer, a process of its own."""
    command = [sys.executable, "-m", "tests.services.oidc_server"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """An empty data folder."""
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture(scope="session")
def library() -> Path:
    """The emulator's library."""
    from emulator.native import NativeBuildError

    try:
        return builds.emulator_library()
    except NativeBuildError as error:
        gate.missing(str(error))


@pytest.fixture(scope="session")
def judge_settings(tmp_path_factory: pytest.TempPathFactory) -> JudgeSettings:
    """Returns settings of the engine, with a data folder of the session's.

    What the judge builds is kept in the checkout. GPUJUDGE_TEST_DATA names a data folder that stays.
    """
    from judge.settings import JudgeSettings

    if kept := os.environ.get("GPUJUDGE_TEST_DATA"):
        return JudgeSettings(data_dir=Path(kept).absolute())
    folder = tmp_path_factory.mktemp("judge-data")
    builds.SUBMISSIONS.mkdir(parents=True, exist_ok=True)
    (folder / "cache").symlink_to(builds.SUBMISSIONS)
    return JudgeSettings(data_dir=folder)


@pytest.fixture(scope="session")
def packs() -> dict[str, Pack]:
    """The built-in challenges by slug; a broken one is an error."""
    from judge.packs.collection.registry import Registry

    registry: Any = Registry.load([builds.ROOT / "challenges"])
    assert not registry.problems, registry.problems
    return {pack.slug: pack for pack in registry.packs.values()}
