from __future__ import annotations

from pathlib import Path

import pytest

from tests.web_site import Site, make_site


@pytest.fixture
def site(data_dir: Path) -> Site:
    """A site with the emulator online."""
    site = make_site(data_dir)
    site.add_device()
    return site
