"""The functions that make arrays: of any contents, of one number, of numbers."""

from __future__ import annotations

import math
from typing import Any

from judge.runner.triton.arrays import Allocation, Memory, Tensor, extents_of
from judge.runner.triton.dtypes import DTYPES, DType
from judge.runner.triton.elements import bytes_of, flattened, natural_dtype, refuse


class Allocator:
    """The functions that make arrays, under the names of PyTorch."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def empty(self, *size: Any, dtype: DType | None = None, device: Any = None, **more: Any) -> Tensor:
        """Returns an array of any contents; ``dtype`` is float32 unless another is given."""
        del device
        _check_options(more)
        shape = extents_of(size or more.get("size", ()))
        if any(extent < 0 for extent in shape):
            raise RuntimeError(f"no array has the extents {shape}")
        kind = dtype or DTYPES["float32"]
        owner = Allocation(self._memory, math.prod(shape) * kind.itemsize)
        return Tensor(owner.address, shape, kind, self._memory, owner=owner)

    def zeros(self, *size: Any, dtype: DType | None = None, device: Any = None, **more: Any) -> Tensor:
        """Returns an array of zeros."""
        return self.empty(*size, dtype=dtype, device=device, **more).zero_()

    def empty_like(self, other: Tensor, *, dtype: DType | None = None, device: Any = None, **more: Any) -> Tensor:
        """Returns an array of any contents with the extents of another, and its type unless one is given."""
        return self.empty(other.shape, dtype=dtype or other.dtype, device=device, **more)

    def zeros_like(self, other: Tensor, *, dtype: DType | None = None, device: Any = None, **more: Any) -> Tensor:
        """Returns an array of zeros with the extents of another, and its type unless one is given."""
        return self.zeros(other.shape, dtype=dtype or other.dtype, device=device, **more)

    def arange(self, *bounds: int, dtype: DType | None = None, device: Any = None, **more: Any) -> Tensor:
        """Returns the whole numbers from the first bound, or 0, up to the second, or by the third."""
        del device
        _check_options(more)
        if not all(isinstance(each, int) for each in bounds):
            refuse("arange() of fractions")
        return self.tensor(list(range(*bounds)), dtype=dtype or DTYPES["int64"])

    def full(self, size: Any, fill_value: float, *, dtype: DType | None = None, **more: Any) -> Tensor:
        """Returns an array of one number; without ``dtype`` of float32, or of int64 for whole numbers."""
        return self.empty(size, dtype=dtype or natural_dtype([fill_value]), **more).fill_(fill_value)

    def full_like(self, other: Tensor, fill_value: float, *, dtype: DType | None = None, **more: Any) -> Tensor:
        """Returns an array of one number with the extents of another, and its type unless one is given."""
        return self.empty_like(other, dtype=dtype, **more).fill_(fill_value)

    def ones(self, *size: Any, dtype: DType | None = None, **more: Any) -> Tensor:
        """Returns an array of ones."""
        return self.empty(*size, dtype=dtype, **more).fill_(1)

    def ones_like(self, other: Tensor, *, dtype: DType | None = None, **more: Any) -> Tensor:
        """Returns an array of ones with the extents of another, and its type unless one is given."""
        return self.full_like(other, 1, dtype=dtype, **more)

    def tensor(self, data: Any, *, dtype: DType | None = None, **more: Any) -> Tensor:
        """Returns an array of the numbers in nested lists; the type as of ``full``."""
        shape, numbers = flattened(data)
        made = self.empty(shape, dtype=dtype or natural_dtype(numbers), **more)
        if numbers:
            self._memory.write(made.data_ptr(), bytes_of(numbers, made.dtype))
        return made


def _check_options(given: dict[str, Any]) -> None:
    known = {"requires_grad", "layout", "pin_memory", "memory_format", "size"}
    for name in given:
        if name not in known:
            raise TypeError(f"no argument {name!r} is taken here")
