"""The requirements gate, and the fixtures that stand for real services.

A test marked ``jail``, ``nvcc``, ``browser``, ``postgres``, ``redis`` or ``gpu`` is skipped, with the reason in the
summary, where the machine lacks the thing. GPUJUDGE_TEST_REQUIRE=all turns such a skip into a failure. GPU tests run
only when asked for (``-m gpu``, which is ``make test-gpu``).
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from tests.services import postgres, probes, redis_server

if TYPE_CHECKING:
    from judge.packs.pack import Pack
    from judge.settings import JudgeSettings

ROOT = Path(__file__).resolve().parent.parent


def pytest_configure() -> None:
    # A shell that puts the tests in the background has them ignore Ctrl-C, and so would all that they start.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _missing(reason: str) -> NoReturn:
    """Ends the test: skipped, or failed where everything is required."""
    if os.environ.get("GPUJUDGE_TEST_REQUIRE") == "all":
        pytest.fail(f"required by GPUJUDGE_TEST_REQUIRE=all: {reason}", pytrace=False)
    pytest.skip(reason)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "gpu" in config.option.markexpr:
        return
    apart = [item for item in items if item.get_closest_marker("gpu")]
    if apart:
        config.hook.pytest_deselected(items=apart)
        items[:] = [item for item in items if not item.get_closest_marker("gpu")]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    for name, probe in probes.PROBES.items():
        if item.get_closest_marker(name) and (reason := probe()) is not None:
            _missing(reason)
    # A marker stands for the service, whether or not the test takes its URL.
    for name, fixture in (("postgres", "postgres_server"), ("redis", "redis_server_url")):
        if item.get_closest_marker(name) and fixture not in getattr(item, "fixturenames", ()):
            item.fixturenames.append(fixture)  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def _postgres_or_reason() -> Iterator[tuple[str | None, str]]:
    # The reason is kept rather than raised: a session fixture that skips is asked again, slowly, by each test.
    with contextlib.ExitStack() as stack:
        try:
            outcome: tuple[str | None, str] = (stack.enter_context(postgres.server()), "")
        except postgres.Unavailable as error:
            outcome = (None, f"PostgreSQL: {error}")
        yield outcome


@pytest.fixture(scope="session")
def _redis_or_reason() -> Iterator[tuple[str | None, str]]:
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
    return url if url is not None else _missing(reason)


@pytest.fixture
def new_postgres_database(postgres_server: str) -> Iterator[Callable[[], str]]:
    """Makes new, empty databases (SQLAlchemy URLs), all dropped after the test."""
    with contextlib.ExitStack() as stack:
        yield lambda: stack.enter_context(postgres.new_database(postgres_server))


@pytest.fixture
def postgres_url(new_postgres_database: Callable[[], str]) -> str:
    """The SQLAlchemy URL of a new, empty PostgreSQL database."""
    return new_postgres_database()


@pytest.fixture
def redis_server_url(_redis_or_reason: tuple[str | None, str]) -> str:
    url, reason = _redis_or_reason
    return url if url is not None else _missing(reason)


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
    return probes.find_chromium() or _missing("Chromium is not installed")


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """An empty data folder."""
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture(scope="session")
def judge_settings(tmp_path_factory: pytest.TempPathFactory) -> JudgeSettings:
    """Settings of the engine; one data folder for the whole session, so that the emulator is built once.
    GPUJUDGE_TEST_DATA names one that stays, with all that was built."""
    from judge.settings import JudgeSettings

    kept = os.environ.get("GPUJUDGE_TEST_DATA")
    return JudgeSettings(data_dir=Path(kept).absolute() if kept else tmp_path_factory.mktemp("judge-data"))


@pytest.fixture(scope="session")
def packs() -> dict[str, Pack]:
    """The built-in challenges by slug; a broken one is an error."""
    from judge.packs.registry import Registry

    registry: Any = Registry.load([ROOT / "challenges"])
    assert not registry.problems, registry.problems
    return {pack.slug: pack for pack in registry.packs.values()}
