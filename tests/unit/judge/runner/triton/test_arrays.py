from __future__ import annotations

from typing import Any

import pytest

from judge.runner.triton.allocator import Allocator
from judge.runner.triton.arrays import Tensor
from judge.runner.triton.dtypes import DTYPES, dtype_of
from judge.wire.elements import ELEMENTS, Element


class Memory:
    """Notes the requests to it."""

    def __init__(self) -> None:
        self.live: dict[int, int] = {}
        self.written: list[tuple[int, object]] = []
        self._next = 4096

    def allocate(self, size: int) -> int:
        address, self._next = self._next, self._next + 4096
        self.live[address] = size
        return address

    def free(self, address: int, size: int) -> None:
        assert self.live.pop(address) == size

    def fill(self, address: int, byte: int, size: int) -> None:
        self.written.append((address, (byte, size)))

    def write(self, address: int, data: bytes) -> None:
        self.written.append((address, data))

    def copy(self, target: int, source: int, size: int) -> None:
        self.written.append((target, (source, "copied", size)))


def array(*shape: int, dtype: str = "float32") -> Tensor:
    return Tensor(1 << 20, shape, DTYPES[dtype], Memory())


def test_it_has_what_kernels_and_their_hosts_ask_for() -> None:
    made = array(3, 4, 5, dtype="float16")
    assert (made.data_ptr(), made.shape, made.stride(), made.stride(1)) == (1 << 20, (3, 4, 5), (20, 5, 1), 5)
    assert (made.numel(), made.element_size(), made.ndim, made.size(0), len(made)) == (60, 2, 3, 3, 3)
    assert (made.is_cuda, made.device.type, str(made.device), made.dtype) == (True, "cuda", "cuda:0", DTYPES["half"])


@pytest.mark.parametrize(
    ("index", "offset", "shape", "strides"),
    [
        (1, 20, (4, 5), (5, 1)),
        (-1, 40, (4, 5), (5, 1)),
        (slice(1, None), 20, (2, 4, 5), (20, 5, 1)),
        ((slice(None), 2), 10, (3, 5), (20, 1)),
        ((0, slice(None, None, 2)), 0, (2, 5), (10, 1)),
        ((..., 3), 3, (3, 4), (20, 5)),
        ((None, 0, 0), 0, (1, 5), (1, 1)),
        (slice(5, 9), 60, (0, 4, 5), (20, 5, 1)),
    ],
)
def test_parts_are_addresses_and_strides(index: Any, offset: int, shape: Any, strides: Any) -> None:
    part = array(3, 4, 5)[index]
    assert (part.data_ptr() - (1 << 20), part.shape, part.stride()) == (4 * offset, shape, strides)


def test_views_keep_the_elements() -> None:
    made = array(4, 6)
    assert made.view(2, -1).shape == (2, 12)
    assert made.reshape((24,)).shape == (24,)
    assert made.flatten().stride() == (1,)
    assert (made.t().shape, made.T.stride(), made.t().is_contiguous()) == ((6, 4), (1, 6), False)
    assert made.unsqueeze(1).shape == (4, 1, 6)
    assert made.unsqueeze(0).squeeze().shape == (4, 6)
    assert made.view(DTYPES["int32"]).dtype is DTYPES["int32"]
    with pytest.raises(RuntimeError, match="24 elements"):
        made.view(5, 5)
    with pytest.raises(RuntimeError, match="contiguous"):
        made.t().view(24)


@pytest.mark.parametrize(
    "use",
    [
        lambda a: a + a, lambda a: a * 2, lambda a: a @ a, lambda a: a[a], lambda a: a.sum(), lambda a: a.cpu(),
        lambda a: a.item(), lambda a: bool(a), lambda a: float(a), lambda a: a.to(DTYPES["float16"]),
        lambda a: a.t().contiguous(), lambda a: list(a), lambda a: a.t().fill_(0),
    ],
)  # fmt: skip
def test_what_computes_is_refused_by_name(use: Any) -> None:
    with pytest.raises(NotImplementedError, match="is not there"):
        use(array(4, 4))


def test_scratch_lives_as_long_as_its_arrays() -> None:
    memory = Memory()
    allocator = Allocator(memory)
    made = allocator.zeros(4, 4, dtype=DTYPES["float16"], device="cuda")
    assert memory.written == [(4096, (0, 32))]
    part = made[2]
    del made
    assert memory.live == {4096: 32}
    del part
    assert not memory.live
    assert allocator.empty_like(array(3, 2, dtype="int8")).dtype is DTYPES["int8"]
    numbers = allocator.arange(1, 7, 2, dtype=DTYPES["int32"])
    assert numbers.shape == (3,)
    assert memory.written[-1][1] == bytes([1, 0, 0, 0, 3, 0, 0, 0, 5, 0, 0, 0])
    with pytest.raises(TypeError, match="'wrong'"):
        allocator.empty(3, wrong=1)


@pytest.mark.parametrize("element", list(Element))
def test_each_element_type_has_one(element: Element) -> None:
    assert dtype_of(element).itemsize == ELEMENTS[element].size_bytes


def test_arrays_are_filled_by_the_device() -> None:
    memory = Memory()
    make = Allocator(memory)
    start = make.full((5000,), float("-inf")).data_ptr()
    assert memory.written == [
        (start, bytes.fromhex("000080ff") * 1024),
        *((start + done, (start, "copied", size)) for done, size in ((4096, 4096), (8192, 8192), (16384, 3616))),
    ]


@pytest.mark.parametrize(
    ("value", "dtype", "data"),
    [
        (1, "float32", "0000803f"),
        (1.5, "float16", "003e"),
        (1 + 2**-8, "bfloat16", "803f"),  # half-way: to even
        (1 + 3 * 2**-8, "bfloat16", "823f"),
        (float("nan"), "bfloat16", "c07f"),
        (-2, "int64", "feffffffffffffff"),
        (300, "uint16", "2c01"),
    ],
)
def test_a_number_becomes_an_element(value: float, dtype: str, data: str) -> None:
    memory = Memory()
    made = Allocator(memory).tensor([value], dtype=DTYPES[dtype])
    assert memory.written == [(made.data_ptr(), bytes.fromhex(data))]


def test_types_follow_from_numbers_as_in_pytorch() -> None:
    make = Allocator(Memory())
    assert make.full((2,), 1).dtype is DTYPES["int64"]
    assert make.full((2,), 1.0).dtype is DTYPES["float32"]
    assert make.tensor([[1, 2], [3, 4]]).shape == (2, 2)
    assert make.tensor(True).dtype is DTYPES["bool"]
    assert make.ones(3, 4).dtype is DTYPES["float32"]
    with pytest.raises(ValueError, match="equally long"):
        make.tensor([[1], [2, 3]])


def test_parts_are_set_to_numbers_and_to_arrays() -> None:
    memory = Memory()
    made = Allocator(memory).empty(4, 4, dtype=DTYPES["int8"])
    made[1] = 7
    made[2] = made[1]
    start = made.data_ptr()
    assert memory.written == [(start + 4, (7, 4)), (start + 8, (start + 4, "copied", 4))]
    with pytest.raises(NotImplementedError, match="not contiguous"):
        made[:, 1] = 0
    assert made.clone().shape == (4, 4)


def test_expanded_dimensions_have_strides_of_zero() -> None:
    row = array(1, 4)
    assert (row.expand(3, -1).shape, row.expand(3, 4).stride()) == ((3, 4), (0, 1))
    assert row.expand(2, 3, 4).stride() == (0, 0, 1)
    with pytest.raises(RuntimeError, match="extents"):
        row.expand(3, 5)
