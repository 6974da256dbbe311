"""A fleet on each kind of database and broker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from store.settings import Settings
from tests.integration.workers.fleet import Fleet

#: Short times, so that tests do not take minutes; everything else is as in production.
QUICK: dict[str, Any] = {
    "heartbeat_s": 0.3,
    "poll_s": 0.4,
    "sweep_s": 0.2,
    "ring_again_s": 1.0,
    "retry_s": 0.05,
    "stop_grace_s": 5.0,
}

#: For tests in which a lease runs out. On a busy machine the lease of a worker that lives may run out, too, which hands
#: its job to another one: tests that count how often a job is begun keep production's lease.
SHORT_LEASE_S = 2.0

MakeFleet = Callable[..., Fleet]


@pytest.fixture
def make_fleet(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeFleet]:
    """A fleet with the given settings; all its processes are gone after the test, or the test fails."""
    # Fixtures end in the reverse of their order, and a database waits a minute for processes that use it.
    if request.node.get_closest_marker("postgres"):
        request.getfixturevalue("postgres_url")
    fleets: list[Fleet] = []

    def make(**settings: Any) -> Fleet:
        fleet = Fleet(Settings(**{"data_dir": tmp_path / "data", **QUICK, **settings}), tmp_path)
        fleets.append(fleet)
        return fleet

    yield make
    for fleet in fleets:
        fleet.stop()


@pytest.fixture(
    params=[
        pytest.param("files", id="sqlite-files"),
        pytest.param("services", id="postgres-redis", marks=[pytest.mark.postgres, pytest.mark.redis]),
    ]
)
def everywhere(request: pytest.FixtureRequest, make_fleet: MakeFleet) -> MakeFleet:
    """Makes fleets on SQLite with the broker of files, and on PostgreSQL with Redis."""
    services: dict[str, Any] = {}
    if request.param == "services":
        services = {name: request.getfixturevalue(name) for name in ("postgres_url", "redis_url")}
        services["database_url"] = services.pop("postgres_url")
    return lambda **settings: make_fleet(**services, **settings)


@pytest.fixture
def fleet(everywhere: MakeFleet) -> Fleet:
    """A fleet with quick settings."""
    return everywhere()
