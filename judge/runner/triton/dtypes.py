"""Element types by the names that PyTorch and Triton give them."""

from __future__ import annotations

from typing import Any

from judge.wire.elements import Element


class DType:
    """An element type, as ``torch.float32`` is one. ``triton`` is Triton's short name of it."""

    __slots__ = ("itemsize", "name", "triton")

    def __init__(self, name: str, triton: str, itemsize: int) -> None:
        self.name, self.triton, self.itemsize = name, triton, itemsize

    @property
    def is_floating_point(self) -> bool:
        return self.triton.startswith(("fp", "bf"))

    def __repr__(self) -> str:
        return f"torch.{self.name}"


_ROWS = (
    ("float16", "fp16", 2, ("half",)),
    ("bfloat16", "bf16", 2, ()),
    ("float32", "fp32", 4, ("float",)),
    ("float64", "fp64", 8, ("double",)),
    ("float8_e4m3fn", "fp8e4nv", 1, ()),
    ("float8_e5m2", "fp8e5", 1, ()),
    ("int8", "i8", 1, ()),
    ("int16", "i16", 2, ("short",)),
    ("int32", "i32", 4, ("int",)),
    ("int64", "i64", 8, ("long",)),
    ("uint8", "u8", 1, ()),
    ("uint16", "u16", 2, ()),
    ("uint32", "u32", 4, ()),
    ("uint64", "u64", 8, ()),
    ("bool", "i1", 1, ()),
)
#: By the names of PyTorch.
DTYPES: dict[str, DType] = {}
for _name, _triton, _size, _others in _ROWS:
    DTYPES[_name] = DType(_name, _triton, _size)
    for _other in _others:
        DTYPES[_other] = DTYPES[_name]

#: Triton's short names, by the types of arrays and, where it is there, of PyTorch.
_TRITON_NAMES: dict[Any, str] = {dtype: dtype.triton for dtype in DTYPES.values()}

_BY_ELEMENT = {
    Element.FLOAT8_E4M3: "float8_e4m3fn",
    Element.FLOAT8_E5M2: "float8_e5m2",
}


def dtype_of(element: Element) -> DType:
    """Returns the type of a buffer's elements."""
    return DTYPES[_BY_ELEMENT.get(element, element.name.lower())]


def know_types(torch: Any) -> None:
    """Has ``triton_name`` know the types of the module ``torch``."""
    _TRITON_NAMES.update({getattr(torch, name): dtype.triton for name, dtype in DTYPES.items() if hasattr(torch, name)})


def triton_name(dtype: Any) -> str:
    """Returns Triton's short name of a type of elements. Raises TypeError for one that kernels do not take."""
    name = _TRITON_NAMES.get(dtype)
    if name is None:
        raise TypeError(f"a kernel takes no array of {dtype}")
    return name
