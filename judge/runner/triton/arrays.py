"""Device memory as a submission sees it: its address, its extents and its type, as of a PyTorch tensor.

The host cannot read or compute with what is behind it: that is what kernels are for. What a tensor of PyTorch could do
beyond that is refused by name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NoReturn, Protocol

from judge.runner.triton.dtypes import DType
from judge.runner.triton.elements import WHY, bytes_of, refuse

#: Bytes that the host writes of a pattern; the device copies them on.
_WRITTEN_AT_ONCE = 4096


class NotThere(AttributeError, NotImplementedError):
    """An attribute of PyTorch's tensors that arrays have not; ``hasattr`` says so."""


class Memory(Protocol):
    """Device memory, as arrays need it."""

    def allocate(self, size: int) -> int:
        """Returns the address of ``size`` bytes. Raises MemoryError."""

    def free(self, address: int, size: int) -> None: ...

    def fill(self, address: int, byte: int, size: int) -> None: ...

    def write(self, address: int, data: bytes) -> None: ...

    def copy(self, target: int, source: int, size: int) -> None: ...


class Allocation:
    """Memory that is freed with the last array over it."""

    __slots__ = ("_memory", "address", "size")

    def __init__(self, memory: Memory, size: int) -> None:
        self._memory, self.size = memory, size
        self.address = memory.allocate(size)

    def __del__(self) -> None:
        if hasattr(self, "address"):
            self._memory.free(self.address, self.size)


class Device:
    """The only device."""

    type = "cuda"
    index = 0

    def __repr__(self) -> str:
        return "device(type='cuda', index=0)"

    def __str__(self) -> str:
        return "cuda:0"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) or other in ("cuda", "cuda:0")

    def __hash__(self) -> int:
        return hash("cuda:0")


DEVICE = Device()


class Tensor:
    """An array on the device. ``shape`` and ``stride()`` are in elements."""

    is_cuda = True
    device = DEVICE
    requires_grad = False

    def __init__(
        self,
        address: int,
        shape: Sequence[int],
        dtype: DType,
        memory: Memory,
        *,
        strides: Sequence[int] | None = None,
        owner: Allocation | None = None,
    ) -> None:
        self._address = address
        self.shape = tuple(shape)
        self.dtype = dtype
        self._memory = memory
        self._strides = tuple(strides) if strides is not None else contiguous_strides(self.shape)
        self._owner = owner

    def data_ptr(self) -> int:
        """Returns the address of the first element."""
        return self._address

    def element_size(self) -> int:
        """Returns the bytes of an element."""
        return self.dtype.itemsize

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.numel() * self.dtype.itemsize

    def numel(self) -> int:
        """Returns the number of elements."""
        return math.prod(self.shape)

    def nelement(self) -> int:
        return self.numel()

    def stride(self, dim: int | None = None) -> Any:
        """Returns the strides of all dimensions, or of one."""
        return self._strides if dim is None else self._strides[dim]

    def size(self, dim: int | None = None) -> Any:
        """Returns the extents of all dimensions, or of one."""
        return self.shape if dim is None else self.shape[dim]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def dim(self) -> int:
        return len(self.shape)

    def is_contiguous(self) -> bool:
        """Returns whether the elements lie one behind the other."""
        wanted = contiguous_strides(self.shape)
        return all(e == 1 or s == w for e, s, w in zip(self.shape, self._strides, wanted, strict=True))

    def contiguous(self) -> Tensor:
        """Returns the array. Raises NotImplementedError where its elements would have to be copied."""
        if not self.is_contiguous():
            refuse("contiguous() of an array that is not, which would copy it: pass strides to the kernel; that")
        return self

    def view(self, *shape: Any) -> Tensor:
        """Returns the same elements with other extents, of which one may be -1; or, given a type, as that type."""
        if len(shape) == 1 and isinstance(shape[0], DType):
            return self._viewed_as(shape[0])
        if not self.is_contiguous():
            raise RuntimeError("view() needs contiguous memory")
        extents = extents_of(shape)
        if extents.count(-1) > 1:
            raise RuntimeError("only one extent can be inferred")
        if -1 in extents:
            rest = -math.prod(extents)
            if not rest or self.numel() % rest:
                raise RuntimeError(f"the shape {extents} is invalid for an array of {self.numel()} elements")
            extents = tuple(self.numel() // rest if extent == -1 else extent for extent in extents)
        if math.prod(extents) != self.numel():
            raise RuntimeError(f"the shape {extents} is invalid for an array of {self.numel()} elements")
        return self._like(extents)

    def reshape(self, *shape: Any) -> Tensor:
        return self.view(*shape)

    def view_as(self, other: Tensor) -> Tensor:
        return self.view(other.shape)

    def flatten(self) -> Tensor:
        return self.view(-1)

    def ravel(self) -> Tensor:
        return self.view(-1)

    def unsqueeze(self, dim: int) -> Tensor:
        """Returns the array with one more dimension, of one element, at ``dim``."""
        at = dim % (self.ndim + 1)
        shape = (*self.shape[:at], 1, *self.shape[at:])
        return self._like(shape, (*self._strides[:at], 1, *self._strides[at:]))

    def squeeze(self, dim: int | None = None) -> Tensor:
        """Returns the array without its dimensions of one element, or without that one."""
        drop = {dim % self.ndim} if dim is not None else set(range(self.ndim))
        kept = [i for i in range(self.ndim) if i not in drop or self.shape[i] != 1]
        return self._like([self.shape[i] for i in kept], [self._strides[i] for i in kept])

    def permute(self, *dims: Any) -> Tensor:
        """Returns the array with its dimensions in another order."""
        order = extents_of(dims)
        if sorted(each % self.ndim for each in order) != list(range(self.ndim)):
            raise RuntimeError(f"permute{order} of an array with {self.ndim} dimensions")
        return self._like([self.shape[i] for i in order], [self._strides[i] for i in order])

    def transpose(self, first: int, second: int) -> Tensor:
        order = list(range(self.ndim))
        order[first], order[second] = order[second], order[first]
        return self.permute(order)

    def t(self) -> Tensor:
        return self.transpose(0, 1) if self.ndim == 2 else self

    @property
    def T(self) -> Tensor:
        return self.permute(tuple(reversed(range(self.ndim))))

    @property
    def mT(self) -> Tensor:
        return self.transpose(-2, -1)

    @property
    def data(self) -> Tensor:
        return self

    def detach(self) -> Tensor:
        return self

    def get_device(self) -> int:
        return self.device.index

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point

    def expand(self, *shape: Any) -> Tensor:
        """Returns the array with its dimensions of one element repeated, by strides of 0; -1 keeps an extent."""
        wanted = extents_of(shape)
        added = len(wanted) - self.ndim
        if added < 0:
            raise RuntimeError(f"expand{wanted} of an array with {self.ndim} dimensions")
        extents, strides = (1,) * added + self.shape, (0,) * added + self._strides
        if any(w not in (-1, e) and e != 1 for w, e in zip(wanted, extents, strict=True)):
            raise RuntimeError(f"expand{wanted} of an array with the extents {self.shape}")
        kept = [w in (-1, e) for w, e in zip(wanted, extents, strict=True)]
        return self._like(
            [e if keep else w for w, e, keep in zip(wanted, extents, kept, strict=True)],
            [s if keep else 0 for s, keep in zip(strides, kept, strict=True)],
        )

    def cuda(self, *_: object, **__: object) -> Tensor:
        return self

    def to(self, *wanted: Any, **named: Any) -> Tensor:
        """Returns the array where it is of that type and on that device already. Raises NotImplementedError."""
        for each in (*wanted, *named.values()):
            if isinstance(each, DType) and each is not self.dtype:
                refuse(f"to({each}) of an array of {self.dtype}, which would convert it: use .to() in the kernel; that")
            if isinstance(each, str) and not each.startswith("cuda"):
                refuse(f"to({each!r})")
        return self

    def zero_(self) -> Tensor:
        """Fills the array with zeros."""
        return self.fill_(0)

    def fill_(self, value: float) -> Tensor:
        """Fills the array with a number."""
        if not self.is_contiguous():
            refuse("filling an array that is not contiguous")
        pattern, size = bytes_of([value], self.dtype), self.nbytes
        if len(set(pattern)) == 1 and size:
            self._memory.fill(self._address, pattern[0], size)
            return self
        filled = min(size, _WRITTEN_AT_ONCE)
        if filled:
            self._memory.write(self._address, pattern * (filled // len(pattern)))
        while filled < size:
            part = min(filled, size - filled)
            self._memory.copy(self._address + filled, self._address, part)
            filled += part
        return self

    def copy_(self, source: Tensor, *_: object, **__: object) -> Tensor:
        """Copies the elements of another array of the same type and number."""
        if not isinstance(source, Tensor) or source.dtype is not self.dtype or source.numel() != self.numel():
            refuse("copy_() of anything but an array of the same type and number of elements")
        if not (self.is_contiguous() and source.is_contiguous()):
            refuse("copy_() of an array that is not contiguous")
        if self.nbytes:
            self._memory.copy(self._address, source.data_ptr(), self.nbytes)
        return self

    def clone(self, **_: object) -> Tensor:
        """Returns a new array with the same elements."""
        owner = Allocation(self._memory, self.nbytes)
        return Tensor(owner.address, self.shape, self.dtype, self._memory, owner=owner).copy_(self)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def __getitem__(self, index: Any) -> Tensor:
        """Returns a part of the array, by whole numbers and slices of step 1 and more."""
        indices = index if isinstance(index, tuple) else (index,)
        if Ellipsis in indices:
            at = indices.index(Ellipsis)
            missing = self.ndim - (len([each for each in indices if each is not None]) - 1)
            indices = (*indices[:at], *([slice(None)] * missing), *indices[at + 1 :])
        shape: list[int] = []
        strides: list[int] = []
        address, dim = self._address, 0
        for each in indices:
            if each is None:
                shape.append(1)
                strides.append(1)
                continue
            if dim >= self.ndim:
                raise IndexError(f"too many indices for an array with {self.ndim} dimensions")
            extent, stride = self.shape[dim], self._strides[dim]
            if isinstance(each, slice):
                start, stop, step = each.indices(extent)
                if step < 1:
                    raise ValueError("a slice goes forward")
                address += start * stride * self.dtype.itemsize
                shape.append(max(0, -(-(stop - start) // step)))
                strides.append(stride * step)
            elif isinstance(each, int) and not isinstance(each, bool):
                if not -extent <= each < extent:
                    raise IndexError(f"index {each} is out of bounds for a dimension of {extent}")
                address += each % extent * stride * self.dtype.itemsize
            else:
                refuse(f"indexing by {type(each).__name__}")
            dim += 1
        shape += self.shape[dim:]
        strides += self._strides[dim:]
        return Tensor(address, shape, self.dtype, self._memory, strides=strides, owner=self._owner)

    def __setitem__(self, index: Any, value: Any) -> None:
        """Fills a part of the array with a number, or copies an array into it."""
        part = self[index]
        if isinstance(value, Tensor):
            part.copy_(value)
        else:
            part.fill_(value)

    def __repr__(self) -> str:
        return f"tensor(..., shape={self.shape}, dtype={self.dtype}, device='cuda:0')"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotThere(f"Tensor.{name} {WHY}")

    def _like(self, shape: Sequence[int], strides: Sequence[int] | None = None) -> Tensor:
        return Tensor(self._address, shape, self.dtype, self._memory, strides=strides, owner=self._owner)

    def _viewed_as(self, dtype: DType) -> Tensor:
        if dtype.itemsize != self.dtype.itemsize:
            refuse("view() as a type of another size")
        return Tensor(self._address, self.shape, dtype, self._memory, strides=self._strides, owner=self._owner)


def _operator(name: str) -> Any:
    def refused(*_: object) -> NoReturn:
        refuse(f"Tensor.{name}")

    return refused


for _name in (
    "add", "radd", "iadd", "sub", "rsub", "isub", "mul", "rmul", "imul", "truediv", "rtruediv", "itruediv", "floordiv",
    "mod", "pow", "matmul", "rmatmul", "neg", "abs", "and", "or", "xor", "invert", "lt", "le", "gt", "ge",
    "bool", "float", "int", "iter", "index",
):  # fmt: skip
    setattr(Tensor, f"__{_name}__", _operator(f"__{_name}__"))


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Returns the strides, in elements, of rows that lie one behind the other."""
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.append(strides[-1] * max(1, extent))
    return tuple(reversed(strides)) if shape else ()


def extents_of(shape: tuple[Any, ...]) -> tuple[int, ...]:
    """Returns extents that are given one by one or as one sequence."""
    extents = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    return tuple(int(extent) for extent in extents)
