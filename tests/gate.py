"""Skips a test where the machine lacks something it needs; fails it where everything is required."""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import NoReturn

import pytest

from tests.services import probes

#: Markers of what tests of one unit must do without.
SERVICES = frozenset(("browser", "gpu", "jail", "nvcc", "postgres", "redis", "triton"))


def missing(reason: str) -> NoReturn:
    """Ends the test: skipped, or failed where GPUJUDGE_TEST_REQUIRE=all says that everything is required."""
    if os.environ.get("GPUJUDGE_TEST_REQUIRE") == "all":
        pytest.fail(f"required by GPUJUDGE_TEST_REQUIRE=all: {reason}", pytrace=False)
    pytest.skip(reason)


def require(item: pytest.Item) -> None:
    """Ends the test if the machine lacks what one of its markers names."""
    for name, probe in probes.PROBES.items():
        if item.get_closest_marker(name) and (reason := probe()) is not None:
            missing(reason)


def misplaced(items: list[pytest.Item], root: PurePath) -> list[str]:
    """Returns the tests below ``tests/unit`` whose markers show that they need more than one unit."""
    unit = root / "tests" / "unit"
    return [
        f"{item.nodeid} needs {', '.join(sorted(needed))}: its place is below tests/integration"
        for item in items
        if unit in item.path.parents and (needed := SERVICES & {marker.name for marker in item.iter_markers()})
    ]
