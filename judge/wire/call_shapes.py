"""The arguments of a call without their contents, for a build that looks ahead at launches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judge.wire.elements import Element
from judge.wire.frames import MAX_ARGUMENTS, Reader, Role, Writer

#: The extents of an argument.
MAX_EXTENTS = 16
#: The calls of a challenge.
MAX_SHAPES = 1000


@dataclass(frozen=True, slots=True)
class ShapedArgument:
    """One argument: a buffer's extents, or a scalar's value (8 bytes, little-endian)."""

    name: str
    role: Role
    element: Element
    shape: tuple[int, ...] = ()
    value: bytes = bytes(8)


@dataclass(frozen=True, slots=True)
class CallShape:
    """One call. ``timed`` ones are scored."""

    timed: bool
    arguments: tuple[ShapedArgument, ...]


def pack_shapes(shapes: Sequence[CallShape]) -> bytes:
    """Returns the calls as bytes."""
    out = Writer().u32(len(shapes))
    for shape in shapes:
        out.u8(shape.timed).u32(len(shape.arguments))
        for argument in shape.arguments:
            out.text(argument.name).u8(argument.role).u8(argument.element).raw(argument.value)
            pack_extents(out, argument.shape)
    return out.payload()


def unpack_shapes(payload: bytes) -> tuple[CallShape, ...]:
    """Reads the output of ``pack_shapes``. Raises FrameError."""
    r = Reader(payload)
    shapes = tuple(
        CallShape(
            bool(r.u8()),
            tuple(_unpack_argument(r) for _ in range(r.count(MAX_ARGUMENTS))),
        )
        for _ in range(r.count(MAX_SHAPES))
    )
    r.end()
    return shapes


def _unpack_argument(r: Reader) -> ShapedArgument:
    name, role, element, value = r.text(), Role(r.u8()), Element(r.u8()), r.raw(8)
    return ShapedArgument(name, role, element, unpack_extents(r), value)


def pack_extents(out: Writer, shape: tuple[int, ...]) -> None:
    """Writes the extents of a buffer."""
    out.u32(len(shape))
    for extent in shape:
        out.u64(extent)


def unpack_extents(r: Reader) -> tuple[int, ...]:
    """Reads the output of ``pack_extents``. Raises FrameError."""
    return tuple(r.u64() for _ in range(r.count(MAX_EXTENTS)))
