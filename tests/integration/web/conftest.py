from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.web.timed_site import Clock
from tests.web_site import H200, Site, make_site


@pytest.fixture
def site(data_dir: Path) -> Site:
    """A site with the emulator online."""
    site = make_site(data_dir)
    site.add_device()
    return site


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def timed_site(data_dir: Path, clock: Clock) -> Site:
    """A site with a GPU online, whose clock the test sets."""
    site = make_site(data_dir, clock=clock)
    site.add_device(H200)
    return site
