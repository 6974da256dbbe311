"""The GPU's device with its kernels, on the emulator.

It makes bit for bit what the trusted side makes of the same recipes, and everything that a submission may not do is
seen. ``tests/gpu/test_device.py`` asks the same of a GPU.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from emulator import Runtime
from judge.gpu.kernels import build
from judge.packs.collection.pool import SecretPool
from judge.packs.data.distributions import (
    Choice,
    Constant,
    Distribution,
    Integers,
    Normal,
    Offsets,
    OneHot,
    Permutation,
    Sentinels,
    Sorted,
    Sparse,
    Uniform,
)
from judge.packs.data.drawing import Drawing, fill_by_recipe
from judge.packs.data.streams import mask
from judge.packs.form.expressions import parse_expression
from judge.runner.device import Buffer, Placed
from judge.wire.digest import PIECE_BYTES, tree_digest
from judge.wire.elements import Element
from judge.wire.messages import LoadRequest, Watch
from judge.wire.recipe import Kind, Recipe
from tests.builds import CACHE
from tests.draws import recipe
from tests.integration.judge.runner.cuda.emulated_driver import emulated_device

if TYPE_CHECKING:
    from judge.runner.cuda.device import CudaDevice

#: Compiling the judge's kernels takes most of the time, minutes on a slow machine: what one process compiles the next
#: test of it uses.
pytestmark = [
    pytest.mark.nvcc,
    pytest.mark.exhaustive(share=40, by_file=True),
    pytest.mark.timeout(900),
    pytest.mark.recorded("judge/runner/cuda", "tests/integration/judge/runner/cuda", "tests/draws.py"),
    pytest.mark.xdist_group("kernels of the judge"),
    pytest.mark.slow(5),
]

GUARD_BYTES = 64 << 10
POOL = SecretPool((7, 8), 64 << 10)


@pytest.fixture(scope="module")
def device(library: Path) -> Iterator[CudaDevice]:
    runtime = Runtime(library=library, threads=2, cache=CACHE / "judge-kernels" / "machine-code")
    runtime.take_report()
    with emulated_device(runtime) as opened:
        yield opened
    Runtime(library=library, threads=2)


@pytest.fixture(scope="module")
def pool(device: CudaDevice) -> Buffer:
    words = np.empty(POOL.size // 4, np.uint32)
    Drawing(POOL.recipe, words.size).draw(0, words)
    made = device.allocate(POOL.size, "pool")
    device.write(made, words.view(np.uint8).data)
    return made


@pytest.fixture
def room(device: CudaDevice) -> Iterator[Buffer]:
    arena = device.allocate(160 * PIECE_BYTES, "room")
    yield arena
    device.free(arena)


def _distributions(element: Element) -> list[Distribution]:
    integers = [Integers(low=-100, high=100), Constant(value=7)]
    if not element.facts.is_float:
        return [*integers, Integers(low=0, high=2**32 - 1)]
    return [*integers, Uniform(low=-1000, high=10), Normal(mean=0.5, sd=3)]


CASES = [(element, one) for element in Element for one in _distributions(element)]


def _contents(device: CudaDevice, buffer: Buffer) -> bytearray:
    found = bytearray(buffer.size)
    device.read(buffer, memoryview(found))
    return found


def _flip(device: CudaDevice, buffer: Buffer, place: int) -> None:
    """One bit of the byte there."""
    at = Buffer(buffer.address + place, 1, buffer.base)
    byte = _contents(device, at)
    byte[0] ^= 1
    device.write(at, memoryview(byte))


@pytest.mark.parametrize(("element", "distribution"), CASES, ids=str)
def test_inputs_are_those_of_numpy_and_changes_to_them_are_seen(
    device: CudaDevice, room: Buffer, pool: Buffer, element: Element, distribution: Distribution
) -> None:
    for size, sentinels, like in ((0, 3, None), (1, 0, None), (13, 3, None), (2003, 9, 4), (5000, 0, 4)):
        given = dataclasses.replace(distribution, sentinels=Sentinels(sentinels, 100.0) if sentinels else None)
        expected = np.empty(size, element.facts.numpy_name)
        made = recipe(given, element, size, 1, "case", "x", 9, like)
        if made.kind is not Kind.CONSTANT:
            made = dataclasses.replace(made, pool=512)
        fill_by_recipe(made, expected, pool=POOL)
        buffer = device.within(room, 512, expected.nbytes)
        one = Placed(buffer, made, device.within(pool, 512, expected.nbytes), compare=True)
        device.place(one)
        assert _contents(device, buffer) == expected.tobytes(), f"{size} elements"
        assert device.inspect([one]).damage == (0,)
        places = {0, size - 1, size // 2} if size else set()
        if sentinels:
            places |= {int(found) for found in np.flatnonzero(np.abs(expected.astype(np.float64)) == 100)[:2]}
        for place in places:
            device.place(one)
            _flip(device, buffer, place * expected.itemsize)
            assert device.inspect([one]).damage == (4,), f"element {place} of {size}"


STRUCTURED: list[tuple[Element, Distribution]] = [
    (Element.FLOAT32, Sorted(Uniform(-3, 5))),
    (Element.FLOAT8_E5M2, Sorted(Uniform(-3, 5))),
    (Element.INT32, Sorted(Integers(-9, 4000))),
    (Element.INT64, Offsets(parse_expression(77_777))),
    (Element.INT32, Offsets(parse_expression(5))),
    (Element.INT32, Permutation()),
    (Element.UINT64, Permutation()),
    (Element.FLOAT16, OneHot()),
    (Element.BOOL, OneHot()),
    (Element.BFLOAT16, Choice((0.5, -1.0, 3.0))),
    (Element.FLOAT64, Choice((0.5, -1.0))),
    (Element.FLOAT32, Sparse(0.9, Normal())),
    (Element.FLOAT8_E4M3, Sparse(0.5, Uniform(1, 2))),
    (Element.UINT8, Sparse(0.5, Integers(1, 9))),
]


@pytest.mark.parametrize(("element", "distribution"), STRUCTURED, ids=str)
def test_structured_inputs_are_those_of_numpy(
    device: CudaDevice, room: Buffer, element: Element, distribution: Distribution
) -> None:
    for shape, like in (((0, 3), None), ((1, 1), None), ((13, 1), 4), ((143, 7), None), ((1000, 5), 4)):
        made = recipe(distribution, element, shape, 1, "case", "x", 9, like)
        expected = np.empty(shape[0] * shape[1], element.facts.numpy_name)
        fill_by_recipe(made, expected)
        buffer = device.within(room, 512, expected.nbytes)
        one = Placed(buffer, made, compare=True)
        device.place(one)
        assert _contents(device, buffer) == expected.tobytes(), shape
        assert device.inspect([one]).damage == (0,)


# The first test to need the kernels waits until they are compiled.
@pytest.mark.slow(45)
def test_a_sentinel_that_was_taken_away_is_missed(device: CudaDevice, room: Buffer) -> None:
    made = recipe(Constant(value=3, sentinels=Sentinels(5, 50.0)), np.dtype(np.int8), 999, 1, "c", "x", 2)
    buffer = device.within(room, 0, 999)
    one = Placed(buffer, made, compare=True)
    device.place(one)
    place = next(place for place, byte in enumerate(_contents(device, buffer)) if byte != 3)
    device.write(Buffer(buffer.address + place, 1, buffer.base), memoryview(b"\3"))
    assert device.inspect([one]).damage == (4,)


@pytest.mark.parametrize("size", [1, 8, 31, 32, 33, 5001])
def test_masked_inputs_are_unmasked(device: CudaDevice, room: Buffer, size: int) -> None:
    expected = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    made = Recipe(Kind.MASKED, Element.UINT8, (2**64 - 1, 12345))
    staged = device.allocate(size, "staged")
    device.write(staged, mask(expected, made.key).data)
    buffer = device.within(room, 256, size)
    one = Placed(buffer, made, staged, compare=True)
    device.place(one)
    assert _contents(device, buffer) == expected.tobytes()
    assert device.inspect([one]).damage == (0,)
    _flip(device, buffer, size - 1)
    assert device.inspect([one]).damage == (4,)
    device.free(staged)


@pytest.mark.parametrize(
    "size", [0, 1, 55, 56, 63, 64, 65, 119, 120, 4095, PIECE_BYTES, PIECE_BYTES + 1, 129 * PIECE_BYTES + 77]
)
def test_digests_are_those_of_the_supervisor(device: CudaDevice, room: Buffer, size: int) -> None:
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    first, second = device.within(room, 0, size), device.within(room, 20 * PIECE_BYTES, size)
    for buffer in (first, second):
        device.write(buffer, data.data)
    if size:
        # Before the second begins, where they overlap.
        _flip(device, first, 0)
    placed = [Placed(first, digest=True), Placed(room), Placed(second, digest=True)]
    digests = device.inspect(placed).digests
    assert digests[1] == tree_digest(data.data)
    assert digests[0] == tree_digest(_contents(device, first))


@pytest.mark.parametrize("size", [0, 1, 255, 256, 1000])
def test_every_byte_around_a_buffer_is_guarded(device: CudaDevice, room: Buffer, size: int) -> None:
    buffer = device.within(room, 256, size)
    one = Placed(buffer, fill=255)
    device.place(one)
    assert set(_contents(device, buffer)) <= {255}
    assert device.inspect([one, one]).damage == (0, 0)
    for place, flag in ((-1, 1), (-GUARD_BYTES, 1), (size, 2), (size + GUARD_BYTES - 1, 2)):
        device.place(one)
        _flip(device, buffer, place)
        assert device.inspect([one]).damage == (flag,)
    assert device.damage(buffer) == 2
    assert device.damage(buffer) == 0, "it has been restored"


def test_a_new_buffer_is_guarded(device: CudaDevice) -> None:
    buffer = device.allocate(1000, "x")
    assert device.damage(buffer) == 0
    device.fill(buffer, 7)
    assert device.damage(buffer) == 0
    _flip(device, buffer, 1000)
    assert device.damage(buffer) == 2
    device.free(buffer)


def _band_behind(device: CudaDevice, buffer: Buffer) -> bytearray:
    return _contents(device, Buffer(buffer.address + buffer.size, GUARD_BYTES, buffer.base))


def test_no_guard_band_is_like_another(device: CudaDevice) -> None:
    one, other = device.allocate(1000, "x"), device.allocate(1000, "y")
    band = _band_behind(device, one)
    device.write(Buffer(other.address + 1000, GUARD_BYTES, other.base), memoryview(band))
    assert device.damage(other) == 2
    pieces = [bytes(band[at : at + 64]) for at in range(0, GUARD_BYTES, 64)]
    assert len(set(pieces)) == len(pieces), "nor is any part of one"
    device.place(Placed(one))
    assert _band_behind(device, one) != band, "nor is it as before the last call"
    device.free(one)
    device.free(other)


@pytest.mark.parametrize("type_", [np.float16, np.float32, np.float64])
def test_guard_bands_are_large_finite_numbers_of_either_sign(device: CudaDevice, type_: type) -> None:
    buffer = device.allocate(1024, "x")
    numbers = np.frombuffer(_band_behind(device, buffer), type_)
    assert np.isfinite(numbers).all()
    assert (np.abs(numbers) > 1000).all()
    assert 0.4 < (numbers < 0).mean() < 0.6
    device.free(buffer)


def test_a_call_runs_between_settling_and_the_end(device: CudaDevice) -> None:
    calls: list[int] = []
    device.settle()
    assert device.time_call(lambda: calls.append(1)) >= 0
    assert calls == [1]


def test_a_program_with_streams_is_held_longer(device: CudaDevice) -> None:
    """How much, only a GPU shows: ``tests/gpu/test_timing.py``."""
    calls: list[int] = []
    device.limit(LoadRequest((), own_streams=True))
    for number in range(2):
        device.settle()
        assert device.time_call(lambda: calls.append(1)) >= 0
        assert len(calls) == number + 1


@pytest.mark.slow(14)
def test_the_kernels_are_compiled_for_a_compute_capability(tmp_path: Path) -> None:
    assert build.ensure_kernels("9.0", tmp_path).read_bytes().startswith(b"\x7fELF")


def test_machine_code_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that loses a race to write the file leaves the winner's file alone."""
    small = tmp_path / "kernels.cu"
    small.write_text("__global__ void nothing() {}\n")
    monkeypatch.setattr(build, "_SOURCE", small)
    folder = tmp_path / "made"

    def ensure(_: int) -> tuple[Path, int, int]:
        path = build.ensure_kernels("9.0", folder)
        return path, path.stat().st_ino, path.stat().st_mtime_ns

    with ThreadPoolExecutor(2) as pool:
        first, again = pool.map(ensure, range(2))
    assert first == again == ensure(0)
    assert list(folder.iterdir()) == [first[0]]


def test_a_profiler_sees_the_call_alone(device: CudaDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    module = sys.modules["judge.runner.cuda.device"]
    for name in ("start_profiler", "stop_profiler"):
        monkeypatch.setattr(f"{module.__name__}.cuda.{name}", functools.partial(seen.append, name), raising=False)
    device.time_call(lambda: seen.append("call"))
    device.watch(Watch.PROFILE, 0)
    device.time_call(lambda: seen.append("call"))
    device.watch(Watch.NOTHING, 0)
    assert seen == ["call", "start_profiler", "call", "stop_profiler"]
