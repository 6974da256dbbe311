"""The kernels around a timed call, on the emulator: bit for bit what the trusted side makes of the same recipes."""

from __future__ import annotations

import ctypes
import hashlib
import os
import struct
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emulator import Runtime, native
from judge.devices.kernels import abi, build
from judge.packs.distributions import Distribution, Sentinels, make, mask, recipe
from judge.packs.signature import C_TYPES
from judge.recipe import Element, Kind, Recipe
from judge.runner.digest import PIECE_BYTES, tree_digest
from tests.unit.emulator.runtime.conftest import NVCC, ROOT

pytestmark = pytest.mark.nvcc

SOURCES = Path(build.__file__).parent
GUARD_BYTES = 64 << 10
#: Launches each kernel as the device does.
HOST = """
#include "kernels.cu"
extern "C" void host_make(void* data, u64 bytes, const Recipe* recipe, const void* staged) {
    make_input<<<3, 64>>>(data, bytes, *recipe, staged, nullptr);
    if (recipe->sentinels + recipe->changes) plant<<<1, 128>>>(data, bytes, *recipe, staged, nullptr);
}
extern "C" void host_compare(void* data, u64 bytes, const Recipe* recipe, const void* staged, u32* found) {
    if (recipe->sentinels + recipe->changes) compare_planted<<<1, 128>>>(data, bytes, *recipe, staged, found);
    compare_input<<<3, 64>>>(data, bytes, *recipe, staged, found);
}
extern "C" void host_guards(unsigned char* data, u64 size, u32 guard, u32* found) {
    if (found) check_guards<<<2, 512>>>(data, size, guard, found); else write_guards<<<2, 512>>>(data, size, guard);
}
extern "C" void host_digest(const unsigned char* data, u64 size, u32* digests) {
    digest_pieces<<<(size + 128 * PIECE_BYTES - 1) / (128 * PIECE_BYTES) + !size, 128>>>(data, size, digests);
}
"""


class Device:
    """Device memory of the emulator, and the kernels."""

    def __init__(self, runtime: Runtime, library: ctypes.CDLL) -> None:
        self.runtime = runtime
        self._library = library
        self._pointers: list[int] = []

    def memory(self, size: int) -> tuple[int, np.ndarray[Any, np.dtype[np.uint8]]]:
        """An address, and the ``size`` bytes there."""
        address = self.runtime.malloc(max(size, 1))
        self._pointers.append(address)
        return address, np.frombuffer(self.runtime.view(address, size), np.uint8) if size else np.empty(0, np.uint8)

    def call(self, name: str, *arguments: int | bytes | None) -> None:
        """A kernel, and everything that the emulator's full checks say of it: nothing."""
        types = {int: ctypes.c_uint64, bytes: ctypes.c_char_p}
        values = [types[type(one)](one) if one is not None else ctypes.c_void_p() for one in arguments]
        getattr(self._library, name)(*values)
        self.runtime.synchronize()
        report = self.runtime.take_report()
        assert not report.findings, report.findings[0]

    def make(self, address: int, size: int, made: Recipe, staged: int | None = None) -> None:
        self.call("host_make", address, size, struct.pack(abi.RECIPE, *abi.recipe_values(made)), staged)

    def found(self, address: int, size: int, made: Recipe, staged: int | None = None) -> int:
        flags, memory = self.memory(4)
        packed = struct.pack(abi.RECIPE, *abi.recipe_values(made))
        self.call("host_compare", address, size, packed, staged, flags)
        return int(memory.view(np.uint32)[0])

    def close(self) -> None:
        for address in self._pointers:
            self.runtime.free(address)


@pytest.fixture(scope="session")
def program() -> Path:
    digest = hashlib.sha256(HOST.encode() + " ".join(NVCC).encode())
    for source in sorted(SOURCES.glob("*.cu*")):
        digest.update(source.read_bytes())
    folder = ROOT / ".cache" / "judge-kernels"
    out = folder / f"{digest.hexdigest()[:16]}.so"
    if not out.exists():
        folder.mkdir(parents=True, exist_ok=True)
        source, partial = (out.with_suffix(f".{os.getpid()}.{ending}") for ending in ("cu", "tmp"))
        source.write_text(HOST)
        subprocess.run([*NVCC, f"-I{SOURCES}", str(source), "-o", str(partial)], check=True)
        partial.replace(out)
        source.unlink()
    return out


@pytest.fixture
def device(program: Path) -> Iterator[Device]:
    library = native.ensure(ROOT / ".cache" / "emulator-native")
    runtime = Runtime(library=library, threads=2, checks="full")
    runtime.take_report()
    opened = Device(runtime, ctypes.CDLL(str(program)))
    yield opened
    opened.close()
    Runtime(library=library, threads=2)


def _distributions(element: str) -> list[Distribution]:
    integers = [Distribution("integers", low=-100, high=100), Distribution("constant", value=7)]
    if np.dtype(element).kind in "iu":
        return [*integers, Distribution("integers", low=0, high=2**32 - 1)]
    return [*integers, Distribution("uniform", low=-1000, high=10), Distribution("normal", mean=0.5, sd=3)]


CASES = [(dtype, one) for dtype in sorted({one.name for one in C_TYPES.values()}) for one in _distributions(dtype)]


@pytest.mark.parametrize(("dtype", "distribution"), CASES, ids=lambda one: getattr(one, "kind", one))
def test_inputs_are_those_of_numpy_and_changes_to_them_are_seen(
    device: Device, dtype: str, distribution: Distribution
) -> None:
    for size, sentinels, like in ((0, 0, None), (1, 0, None), (13, 3, None), (2003, 9, 4), (5000, 0, 4)):
        planted = Sentinels(sentinels, 100.0) if sentinels else None
        given = Distribution(
            distribution.kind, distribution.low, distribution.high, distribution.mean, distribution.sd,
            distribution.value, planted,
        )  # fmt: skip
        expected = np.empty(size, dtype)
        made = recipe(given, expected.dtype, size, 1, "case", "x", 9, like)
        make(made, expected)
        address, memory = device.memory(expected.nbytes)
        device.make(address, expected.nbytes, made)
        assert memory.tobytes() == expected.tobytes(), f"{size} elements"
        assert device.found(address, expected.nbytes, made) == 0
        if not size:
            continue
        differing = np.flatnonzero(expected != expected[0])
        places = {0, size - 1, *(int(place) for place in differing[:1])}
        if made.sentinels is not None:
            places |= {int(place) for place in np.flatnonzero(np.abs(expected.astype(np.float64)) == 100)[:2]}
        for place in places:
            device.make(address, expected.nbytes, made)
            memory[place * expected.itemsize] ^= 1
            assert device.found(address, expected.nbytes, made) == 4, f"element {place} of {size}"


def test_a_constant_s_sentinels_are_compared_without_their_neighbours(device: Device) -> None:
    made = recipe(
        Distribution("constant", value=3, sentinels=Sentinels(5, 50.0)), np.dtype(np.int8), 999, 1, "c", "x", 2
    )
    address, memory = device.memory(999)
    device.make(address, 999, made)
    memory[np.flatnonzero(memory.view(np.int8) != 3)[0]] = 3
    assert device.found(address, 999, made) == 4


@pytest.mark.parametrize("size", [1, 8, 31, 32, 33, 5001])
def test_masked_inputs_are_unmasked(device: Device, size: int) -> None:
    expected = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    made = Recipe(Kind.MASKED, Element.UINT8, (2**64 - 1, 12345))
    staged, masked = device.memory(-(-size // 32) * 32)
    masked[:size] = mask(expected, made.key)
    address, memory = device.memory(size)
    device.make(address, size, made, staged)
    assert memory.tobytes() == expected.tobytes()
    assert device.found(address, size, made, staged) == 0
    memory[size - 1] ^= 128
    assert device.found(address, size, made, staged) == 4


@pytest.mark.parametrize(
    "size", [0, 1, 55, 56, 63, 64, 65, 119, 120, 4095, PIECE_BYTES, PIECE_BYTES + 1, 9 * PIECE_BYTES + 77]
)
def test_digests_are_those_of_hashlib(device: Device, size: int) -> None:
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    address, memory = device.memory(size)
    memory[:] = data
    pieces = max(1, -(-size // PIECE_BYTES))
    digests, level = device.memory(32 * pieces)
    device.call("host_digest", address, size, digests)
    raw = data.tobytes()
    for piece in range(pieces):
        wanted = hashlib.sha256(raw[piece * PIECE_BYTES : (piece + 1) * PIECE_BYTES]).digest()
        assert level[32 * piece : 32 * piece + 32].tobytes() == wanted
    if pieces > 1:
        root, top = device.memory(32)
        device.call("host_digest", digests, 32 * pieces, root)
        assert top.tobytes() == tree_digest(raw)


@pytest.mark.parametrize("size", [0, 1, 255, 256, 1000])
def test_guard_bands_show_every_byte_that_was_written(device: Device, size: int) -> None:
    padded = -(-size // 256) * 256
    base, memory = device.memory(2 * GUARD_BYTES + padded)
    flags, found = device.memory(4)
    begin, behind = GUARD_BYTES, GUARD_BYTES + size
    memory[begin:behind] = 1
    device.call("host_guards", base + GUARD_BYTES, size, GUARD_BYTES, None)
    assert (memory[begin:behind] == 1).all()
    assert (np.delete(memory, range(begin, behind)) == 0xA5).all()
    for place, flag in ((0, 1), (begin - 1, 1), (behind, 2), (len(memory) - 1, 2)):
        found[:] = 0
        memory[place] ^= 4
        device.call("host_guards", base + GUARD_BYTES, size, GUARD_BYTES, flags)
        assert found.view(np.uint32)[0] == flag
        memory[place] ^= 4
    found[:] = 0
    device.call("host_guards", base + GUARD_BYTES, size, GUARD_BYTES, flags)
    assert found.view(np.uint32)[0] == 0


def test_machine_code_is_made_once_for_a_compute_capability(tmp_path: Path) -> None:
    ask: Callable[[str], Path] = lambda capability: build.ensure_kernels(capability, tmp_path)  # noqa: E731
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(ask, ["9.0", "9.0"])
    assert first == second
    assert first.read_bytes().startswith(b"\x7fELF")
    made = first.stat().st_mtime_ns
    assert ask("9.0").stat().st_mtime_ns == made
    assert [path.name for path in tmp_path.iterdir()] == [first.name]
