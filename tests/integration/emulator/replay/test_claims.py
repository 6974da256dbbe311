"""A recording is a claim: it reaches only device memory, and an impossible one is refused with the reason."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emulator.replay.recording import Recording, RecordingError
from emulator.replay.replay import images_of
from tests.integration.emulator.replay.conftest import Pair, values
from tests.integration.emulator.replay.processes import N, inputs

pytestmark = pytest.mark.nvcc

Forged = Callable[..., dict[str, Any]]

FREE = 0x200000000000 + (1 << 36)  # in the device's range, of nobody
HUGE = (1 << 64) - 8


def text(value: bytes) -> bytes:
    return struct.pack("<I", len(value)) + value


def allocate(address: int, size: int, kind: int = 0) -> bytes:
    return struct.pack("<IQQB", 1, address, size, kind)


def fill(address: int, width: int, height: int = 1, pitch: int = 0, depth: int = 1, slice_: int = 0) -> bytes:
    return struct.pack("<I6Q2I", 6, address, pitch, slice_, width, height, depth, 0, 1)


def copy(to: int, source: int, size: int) -> bytes:
    return struct.pack("<I9Q", 7, to, 0, 0, source, 0, 0, size, 1, 1)


def write(address: int, data: bytes, width: int) -> bytes:
    return struct.pack("<I6Q", 8, address, 0, 0, width, 1, 1) + text(data)


def image(handle: int, *, kind: int = 2, bits: int = 32, levels: int = 1, width: int = 64, mode: int = 0) -> bytes:
    """A texture object, of one channel."""
    level = struct.pack("<3Q3I", FREE, 256, 256, width, 1, 1)
    format_ = struct.pack("<9I", kind, bits, 0, 0, 0, 0, 0, 0, levels)
    sampler = struct.pack("<8I7f", mode, mode, mode, 0, 0, 0, 0, 0, *([0.0] * 7))
    return struct.pack("<IQI", 13, handle, 0) + format_ + level * 18 + sampler


def launch(
    module: int, kernel: bytes, params: bytes, grid: int = 1, block: int = 32, shared: int = 0, cluster: int = 0
) -> bytes:
    shape = struct.pack("<6IQ4I", grid, 1, 1, block, 1, 1, shared, 0, cluster, cluster, cluster)
    return struct.pack("<IQ", 5, module) + text(kernel) + shape + text(params)


@pytest.fixture(scope="module")
def recorded(library: Path, build: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Pair:
    pair = Pair(library, build("asks"), tmp_path_factory.mktemp("plain"))
    pair.record("plain")
    return pair


@pytest.fixture
def forged(recorded: Pair, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Replays the recording of ``plain`` with these changes, and returns the error."""

    def forged(**changes: Any) -> dict[str, Any]:
        (tmp_path / "recorded.json").write_bytes((recorded.folder / "recorded.json").read_bytes())
        (tmp_path / "recording").write_bytes(replace(recorded.recording, **changes).pack())
        return Pair(recorded.library, recorded.program, tmp_path).replay()

    return forged


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("steps", "why"),
    [
        (b"\x63\0\0\0", "no known kind"),
        (allocate(FREE, 4096)[:-3], "break off"),
        (allocate(FREE, HUGE), "not to be had"),
        (allocate(64, 64), "not to be had"),
        (allocate(FREE + 8, 64), "not to be had"),
        (allocate(FREE, 64) * 2, "not to be had"),
        (allocate(FREE, 64, 3), "impossible allocation"),
        (struct.pack("<IQ", 2, FREE), "no allocation begins"),
        (struct.pack("<IQ", 3, 77) + text(b"x") + struct.pack("<QB", FREE, 4), "not in the program"),
        (fill(FREE, 8), "outside of allocations"),
        (allocate(FREE, 64) + fill(FREE, 8, 2, HUGE), "outside of allocations"),
        (allocate(FREE, 64) + fill(FREE, 8, 1 << 62, 4), "bounds"),
        (allocate(FREE, 64) + fill(FREE, 8, 1 << 40), "more than 32 GiB"),
        (allocate(FREE, 64) + fill(FREE, 1, 1 << 28), "more than 32 GiB"),
        (allocate(FREE, 64) + fill(FREE, 0, 1 << 40), "more than 32 GiB"),
        ((allocate(FREE, 1 << 40) + struct.pack("<IQ", 2, FREE)) * 1000, "more than 32 GiB"),
        (allocate(FREE, 64) + fill(FREE, 8) * (1 << 18), "more than 262144 steps"),
        (allocate(FREE, 64) + copy(FREE, 0x1000, 8), "outside of allocations"),
        (allocate(FREE, 64) + copy(0x1000, FREE, 8), "outside of allocations"),
        (allocate(FREE, 64) + write(FREE, b"12345678", 64), "other bytes"),
        (allocate(FREE, 8) + write(FREE, bytes(64), 64), "outside of allocations"),
        (image(1, kind=9), "impossible texture"),
        (image(1, bits=64), "impossible texture"),
        (image(1, levels=19), "impossible texture"),
        (image(1, levels=0), "impossible texture"),
        (image(1, width=0), "impossible texture"),
        (image(1, mode=4), "impossible texture"),
        (image(5) + image(5), "given before"),
        (image(5) + image(4), "given before"),
        (image(1)[:-1], "break off"),
        (struct.pack("<IQ", 14, 1), "no texture"),
        (launch(77, b"kernel", b""), "not in the program"),
        (launch(1, b"kernel", b""), "no kernel kernel"),
        (launch(1, b"_Z6affinePKfPfiff", bytes(8)), "impossible launch"),
        (launch(1, b"_Z6affinePKfPfiff", bytes(28), block=4096), "impossible launch"),
        (launch(1, b"_Z6affinePKfPfiff", bytes(28), shared=1 << 40), "impossible launch"),
        (launch(1, b"_Z6affinePKfPfiff", bytes(28), cluster=2), "impossible launch"),
        (launch(1, b"_Z6affinePKfPfiff", bytes(28), cluster=1 << 31), "impossible launch"),
    ],
)
def test_what_cannot_be_is_refused(forged: Forged, steps: bytes, why: str) -> None:
    answer = forged(steps=steps)

    assert why in answer["error"]
    assert answer["launches"] == []


def test_faults_of_a_claimed_launch_are_found(forged: Forged) -> None:
    null_pointers = struct.pack("<QQiff", 0, 0, N, 2, 1)

    answer = forged(steps=launch(1, b"_Z6affinePKfPfiff", null_pointers))

    assert "illegal" in answer["findings"][0]


def test_a_claimed_texture_reaches_device_memory_only(
    library: Path, build: Callable[[str], Path], tmp_path: Path
) -> None:
    pair = Pair(library, build("images"), tmp_path)
    pair.record("through_images")
    addresses = json.loads((tmp_path / "recorded.json").read_text())["addresses"]
    params = struct.pack("<QQi", 1, addresses[1], N)
    steps = image(1) + launch(1, b"_Z8one_moreyPfi", params, grid=8, block=128)
    (tmp_path / "recording").write_bytes(replace(pair.recording, steps=steps).pack())

    answer = pair.replay()

    assert answer["findings"][0].startswith("illegal read of 4 bytes")


def test_code_that_is_not_in_the_program_is_refused(forged: Forged) -> None:
    assert "code that is not in the program" in forged(modules={1: bytes(32)})["error"]


def test_launches_that_were_left_out_are_missed(forged: Forged) -> None:
    answer = forged(steps=b"")

    assert answer["launches"] == []
    assert not np.array_equal(values(answer), 2 * inputs() + 1)


def test_more_textures_than_a_replay_has_time_for_are_refused(forged: Forged) -> None:
    answer = forged(steps=b"".join(map(image, range(1, 17000))))

    assert "more than 32 GiB" in answer["error"]


@pytest.mark.parametrize("data", [b"", b"\1\0\0\0", b"\2\0\0\0\0\0\0\0", b"\1\0\0\0\2\0\0\0" + bytes(41)])
def test_bytes_that_are_no_recording_are_refused(data: bytes) -> None:
    with pytest.raises(RecordingError):
        Recording.unpack(data)


def test_files_without_device_code_have_no_images(recorded: Pair) -> None:
    program = recorded.program.read_bytes()

    assert len(images_of(program)) == 1
    for nothing in (b"", program[:100], bytes(4096), program[:64] + bytes(len(program) - 64)):
        assert images_of(nothing) == {}
