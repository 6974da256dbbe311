"""One whole gpujudge, as `gpujudge up` starts it, for the tests of this folder that ask for it.

Starting it takes nine seconds of processor time, so these tests stay together: each is marked ``xdist_group("stack")``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.stack import Stack, running_stack


@pytest.fixture(scope="package")
def stack(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    assert library.exists()  # built before a server starts: none builds another one
    with running_stack(tmp_path_factory.mktemp("up") / "data") as running:
        yield running
