"""The judge's device on a real GPU.

What its kernels make is what NumPy makes, what they look at is seen, and how long what surrounds a timed call takes.
"""

from __future__ import annotations

import dataclasses
import secrets
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pytest

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.backends.sessions import sessions_for
from judge.gpu.kernels.build import ensure_kernels
from judge.judgement import DeviceInfo
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
from judge.packs.data.inputs import input_recipes, lazy_inputs, pool_bytes, scalar_values
from judge.packs.data.lazy_array import real_arrays
from judge.packs.data.storage import stored_type
from judge.packs.data.streams import mask
from judge.packs.form.expressions import parse_expression
from judge.packs.judging import check_outputs
from judge.packs.pack import Pack
from judge.packs.sizes import buffer_bytes, output_specs
from judge.runner.device import Buffer, Placed
from judge.settings import JudgeSettings
from judge.supervisor.shared_memory import align
from judge.wire.bursts import GUARD_BYTES, ReserveRequest, TimedCall, TimedSlot
from judge.wire.digest import PIECE_BYTES, level_sizes, piece_digests, tree_digest
from judge.wire.elements import Element
from judge.wire.recipe import Kind, Recipe
from tests.draws import recipe
from tests.gpu import kernels

if TYPE_CHECKING:
    from judge.runner.cuda.device import CudaDevice

pytestmark = [pytest.mark.gpu, pytest.mark.nvcc]

Array = npt.NDArray[np.generic]
_SHIFT = 4096
_POOL = SecretPool.draw(32 << 20)


@pytest.fixture(scope="module")
def device(gpu: DeviceInfo, judge_settings: JudgeSettings) -> Iterator[CudaDevice]:
    from judge.runner.cuda.device import CudaDevice

    library = ensure_kernels(gpu.compute_capability, judge_settings.data_dir / "kernels")
    opened = CudaDevice(gpu.details["ordinal"], str(library))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def pool(device: CudaDevice) -> Buffer:
    words = np.empty(_POOL.size // 4, np.uint32)
    Drawing(_POOL.recipe, words.size).draw(0, words)
    made = device.allocate(_POOL.size, "pool")
    device.write(made, words.view(np.uint8).data)
    return made


@pytest.fixture
def room(device: CudaDevice) -> Iterator[Buffer]:
    """An arena of 80 MiB."""
    arena = device.allocate(80 << 20, "room")
    yield arena
    device.free(arena)


#: Those that take sentinels.
Plain = Integers | Constant | Uniform | Normal


def _distributions(element: Element) -> list[Plain]:
    integers: list[Plain] = [Integers(low=-100, high=100), Constant(value=7)]
    if not element.facts.is_float:
        return [*integers, Integers(low=0, high=2**32 - 1)]
    return [*integers, Uniform(low=-1000, high=10), Normal(mean=0.5, sd=3)]


CASES = [(element, one) for element in Element for one in _distributions(element)]


def _contents(device: CudaDevice, buffer: Buffer) -> bytearray:
    found = bytearray(buffer.size)
    device.read(buffer, memoryview(found))
    return found


def _one_byte(device: CudaDevice, buffer: Buffer, place: int) -> None:
    """Changes it."""
    at = Buffer(buffer.address + place, 1, buffer.base)
    byte = _contents(device, at)
    byte[0] ^= 1
    device.write(at, memoryview(byte))


@pytest.mark.parametrize(("element", "distribution"), CASES, ids=str)
def test_inputs_are_those_of_numpy_and_changes_to_them_are_seen(
    device: CudaDevice, room: Buffer, pool: Buffer, element: Element, distribution: Plain
) -> None:
    for size, sentinels, like in ((0, 0, None), (1, 1, None), (13, 3, None), (100_003, 33, 4), (3_000_017, 0, 4)):
        given = dataclasses.replace(distribution, sentinels=Sentinels(sentinels, 100.0) if sentinels else None)
        expected = np.empty(size, element.facts.numpy_name)
        made = recipe(given, element, size, 1, "case", "x", 9, like)
        if made.kind is not Kind.CONSTANT:
            made = dataclasses.replace(made, pool=_SHIFT)
        fill_by_recipe(made, expected, pool=_POOL)
        buffer = device.within(room, _SHIFT, expected.nbytes)
        one = Placed(buffer, made, device.within(pool, _SHIFT, expected.nbytes), compare=True)
        device.place(one)
        assert _contents(device, buffer) == expected.tobytes(), f"{size} elements"
        assert device.inspect([one]).damage == (0,)
        places = {0, expected.nbytes - 1, secrets.randbelow(max(1, expected.nbytes))} if size else set()
        for place in places:
            device.place(one)
            _one_byte(device, buffer, place)
            assert device.inspect([one]).damage == (4,), f"byte {place} of {expected.nbytes}"


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


@pytest.mark.parametrize("size", [1, 33, 1_000_003])
def test_masked_inputs_are_unmasked(device: CudaDevice, room: Buffer, size: int) -> None:
    expected = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    made = Recipe(Kind.MASKED, Element.UINT8, (secrets.randbits(64), secrets.randbits(64)))
    staged = device.allocate(size, "staged")
    device.write(staged, mask(expected, made.key).data)
    buffer = device.within(room, 0, size)
    one = Placed(buffer, made, staged, compare=True)
    device.place(one)
    assert _contents(device, buffer) == expected.tobytes()
    assert device.inspect([one]).damage == (0,)
    device.free(staged)


@pytest.mark.parametrize("size", [0, 1, 64, PIECE_BYTES, 129 * PIECE_BYTES + 5, (64 << 20) + 12_345])
def test_digests_are_those_of_the_supervisor(device: CudaDevice, room: Buffer, size: int) -> None:
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    first, second = (device.within(room, shift, size) for shift in (256, (68 << 20)))
    if second.address + size > room.address + room.size:
        second = first
    for buffer in (first, second):
        device.write(buffer, data.data)
    found = device.inspect([Placed(first, digest=True), Placed(second, digest=True)])
    assert found.digests == (tree_digest(data.data),) * 2
    pieces = bytearray(level_sizes(data.size)[0])
    device.piece_digests(first, memoryview(pieces))
    assert pieces == piece_digests(data.data)


@pytest.mark.parametrize("size", [0, 1, 1000, 4096])
def test_writes_outside_of_a_buffer_are_seen(device: CudaDevice, room: Buffer, size: int) -> None:
    buffer = device.within(room, _SHIFT, size)
    one = Placed(buffer, fill=255)
    device.place(one)
    assert set(_contents(device, buffer)) <= {255}
    assert device.inspect([one, one]).damage == (0, 0)
    for place, flag in ((-1, 1), (-65536, 1), (size, 2), (size + 65535, 2)):
        device.place(one)
        _one_byte(device, buffer, place)
        assert device.inspect([one]).damage == (flag,)
    assert device.damage(buffer) == 2, "it was not restored yet"
    assert device.damage(buffer) == 0


@pytest.mark.timed
@pytest.mark.parametrize("mebibytes", [1, 256])
def test_what_surrounds_a_call_is_short(device: CudaDevice, mebibytes: int) -> None:
    """One input and one output of ``mebibytes`` MiB; the figures are printed."""
    size = mebibytes << 20
    source, target, beside = (device.allocate(size, label) for label in ("input", "output", "pool"))
    uniform = Uniform(low=-1, high=1)

    def around(call: int) -> Sequence[float]:
        made = recipe(uniform, np.dtype(np.float32), size // 4, 1, "c", "x", call)
        pooled = dataclasses.replace(made, pool=0)
        placed = [Placed(source, pooled, beside, compare=True), Placed(target, digest=True)]
        times = [time.perf_counter()]
        for one in placed:
            device.place(one)
        device.settle()
        times.append(time.perf_counter())
        empty_s = device.time_call(lambda: None)
        times.append(time.perf_counter())
        device.inspect(placed)
        times.append(time.perf_counter())
        return (*np.diff(times), empty_s)

    samples = np.median([around(call) for call in range(30)], axis=0)
    before_s, timing_s, after_s, empty_s = samples
    print(
        f"{mebibytes} MiB in and out: {before_s * 1e3:.3f} ms before, {timing_s * 1e6:.1f} us around an empty call "
        f"({empty_s * 1e6:.2f} us by the events), {after_s * 1e3:.3f} ms after"
    )
    for buffer in (source, target, beside):
        device.free(buffer)
    assert empty_s < 20e-6
    assert before_s + after_s < 0.01


@pytest.mark.jail
def test_a_burst_in_the_jail(gpu: DeviceInfo, packs: dict[str, Pack], judge_settings: JudgeSettings) -> None:
    """Every call of it can be opened, is right, and is what was committed."""
    pack = packs["vector-add"]
    case = pack.benchmarks_for("cuda")[0]
    case = dataclasses.replace(case, axes={"N": case.axes["N"] // 4})
    factory = sessions_for(BUILTIN_BACKENDS.of("cuda"), pack, [case], gpu, judge_settings)
    report, artifact = pipeline.build(kernels.HONEST.encode(), pack, gpu, judge_settings)
    assert artifact is not None, report
    session = factory.start()
    try:
        sizes = [buffer_bytes(case, argument) for argument in pack.arguments]
        places = [align(size + _SHIFT + GUARD_BYTES) for size in sizes]
        rooms = tuple(3 * place if size else 0 for size, place in zip(sizes, places, strict=True))
        session.reserve(ReserveRequest(rooms, pool=pool_bytes(pack, case)))
        session.load(artifact)
        calls = []
        for call in (1, 2, 3):
            recipes = input_recipes(pack, case, 5, call, like=1 if call == 3 else None, pooled=True)
            scalars = scalar_values(pack, case)
            slots = tuple(
                TimedSlot(
                    size=size,
                    digests_offset=align(size),
                    recipe=recipes.get(argument.name),
                    shift=256 * call + (call - 1) * place,
                )
                if argument.is_pointer
                else TimedSlot(value=scalars[argument.name].tobytes().ljust(8, b"\0"))
                for argument, size, place in zip(pack.arguments, sizes, places, strict=True)
            )
            calls.append(TimedCall(slots))
        session.time(calls)
        made = session.time(calls)
        inner_s = sum(claim.ran.elapsed_s for claim in made.calls)
        print(f"a burst of 3: {made.wall_s * 1e3:.3f} ms, of which {inner_s * 1e3:.3f} ms in solve")
        assert 0 < inner_s < made.wall_s
        ((name, spec),) = output_specs(pack, case).items()
        for index, claim in enumerate(made.calls):
            assert (claim.ran.code, set(claim.commit.damage)) == (0, {0}), claim
            session.open_call(index)
            output = session.runner.outputs.read(0, spec.shape, stored_type(spec.element))
            data = output.reshape(-1).view(np.uint8)
            assert (tree_digest(data.data),) == claim.commit.digests
            expected = piece_digests(data.data)
            pieces = session.runner.outputs.read(align(data.size), (len(expected),), np.dtype(np.uint8))
            assert pieces.tobytes() == expected
            like = 1 if index == 2 else None
            inputs = real_arrays(lazy_inputs(pack, case, 5, index + 1, like=like, pool=session.pool))
            assert check_outputs(pack, case, inputs, {name: output}) is None
    finally:
        session.finish()
