"""A replay of a program's device work gives the same results without the program's host code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.integration.emulator.replay.conftest import Pair, values
from tests.integration.emulator.replay.processes import N, inputs

pytestmark = pytest.mark.nvcc


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "function",
    [
        "plain", "memory_of_its_own", "copies_and_fills", "variables", "what_it_reads_decides", "managed",
        "managed_variable", "pinned", "graph", "much_shared", "together", "on_the_host",
    ],
)  # fmt: skip
def test_what_was_recorded_gives_the_answer_again(pair: Pair, function: str) -> None:
    recorded, replayed = pair.record(function), pair.replay()

    assert "error" not in recorded
    assert "error" not in replayed
    assert np.array_equal(values(recorded), 2 * inputs() + 1)
    assert replayed["values"] == recorded["values"]
    if function != "together":  # its warps poll: how often is not the same each time
        assert replayed["launches"] == recorded["launches"]
    assert replayed["findings"] == recorded["findings"] == []


def test_textures_and_surfaces(library: Path, build: Callable[[str], Path], tmp_path: Path) -> None:
    pair = Pair(library, build("images"), tmp_path)
    recorded, replayed = pair.record("through_images"), pair.replay()

    assert np.array_equal(values(recorded), 2 * inputs() + 1)
    assert replayed["values"] == recorded["values"]
    assert replayed["launches"] == recorded["launches"]
    assert replayed["findings"] == recorded["findings"] == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("function", "transfers"),
    [
        # The program has a managed variable, whichever function of it is called.
        ("plain", {"shared": 1}),
        ("copies_and_fills", {
            "writes": 1, "written_bytes": 8, "copies": 2, "copied_bytes": 8 * N, "fills": 1, "filled_bytes": 4 * N,
            "shared": 1,
        }),
        ("variables", {"writes": 2, "written_bytes": 8, "shared": 1}),
        ("what_it_reads_decides", {"reads": 1, "read_bytes": 4 * N, "shared": 1}),
        # The pages that the host wrote: two before the first launch, one before the second.
        ("managed", {"writes": 3, "written_bytes": 3 * 4096, "shared": 2}),
        ("managed_variable", {"writes": 1, "written_bytes": 4, "shared": 1}),
        ("graph", {"fills": 4, "filled_bytes": 16 * N, "shared": 1}),
        ("on_the_host", {"reads": 1, "read_bytes": 4 * N, "writes": 1, "written_bytes": 4 * N}),
    ],
)  # fmt: skip
def test_what_crosses_between_host_and_device_is_counted(pair: Pair, function: str, transfers: dict[str, int]) -> None:
    pair.record(function)

    counted = pair.replay()["transfers"]

    assert {name: count for name, count in counted.items() if count} == transfers
