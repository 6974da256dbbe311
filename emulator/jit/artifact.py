"""A compiled kernel as bytes: its machine code, and all that is needed to load and run it.

The bytes begin with a checksum, which detects damage but not intent: whoever can write an artifact decides what code
runs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from itertools import accumulate
from operator import attrgetter
from typing import Any, NamedTuple

from emulator.jit.abi import Access, AtomicForm, Order, Space
from records import dataclass

_MAGIC = b"emukrn09"
_DIGEST_BYTES = 32
_LENGTH_BYTES = 4


class ArtifactError(ValueError):
    """The bytes are not an artifact, or are damaged."""


class Function(IntEnum):
    """The functions of a kernel (abi.h): for all 32 lanes together, and for some of them."""

    UNIFORM = 0
    MASKED = 1


class Tier(IntEnum):
    """How much the code was optimized."""

    QUICK = 0
    BEST = 1


@dataclass(frozen=True, slots=True)
class AccessSite:
    """A place in the source that touches memory, traps or calls the runtime; its index is ``site`` in abi.h.

    The fields are those of ``EmuSite``, in its order.
    """

    file: str
    line: int
    size: int
    order: Order
    kind: Access
    space: Space
    block: int  # basic block; ``abi.NO_BLOCK``: none
    atomic_form: AtomicForm
    shared_begin: int  # where what is meant of shared memory begins
    shared_end: int  # where it ends; 0: where all of it ends
    element_size: int  # of a vector; that of all else is its size
    copied: int  # bit i: what a load reads as element i is only stored again, or left alone

    @property
    def numbers(self) -> tuple[int, ...]:
        """All fields but the file."""
        values: tuple[int, ...] = _numbers_of(self)
        return values


_numbers_of = attrgetter(*AccessSite.__slots__[1:])


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a kernel; ``offset`` and ``size`` are bytes in the launch's parameters."""

    name: str
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the source; ``line`` is 0 when unknown."""

    file: str
    line: int


@dataclass(frozen=True, slots=True)
class SharedArray:
    """A variable in shared memory; ``size`` 0: up to the end."""

    name: str
    offset: int
    size: int


class LineMix(NamedTuple):
    """The part of a basic block that comes from one source line.

    ``flops`` of matrix types are a warp's, the others a lane's.
    """

    block: int
    file: str
    line: int
    instructions: tuple[int, ...]  # as emulator.profile.CLASSES
    flops: tuple[int, ...]  # as emulator.profile.FLOP_TYPES
    dependent_steps: int  # of the block's critical path
    dependent_loads: int  # of its longest chain of loads


class Range(NamedTuple):
    """A range of bytes in the register file."""

    offset: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Polling:
    """The loops of a kernel that may poll, and what makes up a warp's state there.

    ``heads``: the blocks where loops begin that look at what other warps may change. ``live``: for each block where the
    registers lie that are live when it begins; empty where there are no such loops.
    """

    heads: tuple[int, ...] = ()
    live: tuple[tuple[Range, ...], ...] = ()

    def tables(self) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
        """Returns ``polling``, ``live_ends`` and ``live`` of abi.h."""
        ends = list(accumulate(len(ranges) for ranges in self.live))
        return self.heads, ends, [word for ranges in self.live for r in ranges for word in r]


@dataclass(frozen=True, slots=True)
class Description:
    """Describes a kernel compiled for one block shape. Sizes in bytes."""

    name: str  # mangled
    block: tuple[int, int, int]
    instruction_count: int  # of its PTX, calls inlined
    parameters: tuple[Parameter, ...]
    parameter_bytes: int
    shared_bytes: int  # the reserved ones among them
    reserved_shared_bytes: int
    local_bytes: int  # per lane
    register_bytes: int  # per warp
    sites: tuple[AccessSite, ...]
    symbols: tuple[str, ...]  # module-scope variables, in the order of EmuKernel.symbols
    block_lines: tuple[Line, ...]  # where each basic block begins and ends; then each further segment
    shared_arrays: tuple[SharedArray, ...]
    max_threads: int  # .maxntid, 0: none
    uses_barriers: bool
    uses_grid_barrier: bool
    block_count: int  # basic blocks
    observed: bool
    instruction_mix: tuple[LineMix, ...]  # of an observed kernel
    polling: Polling  # of an observed kernel
    waiting: tuple[int, ...]  # the basic blocks of loops that only wait for mbarriers, sorted
    uses_stack: bool = False

    @property
    def files(self) -> list[str]:
        """The source files that it names, sorted."""
        located = (self.sites, self.block_lines, self.instruction_mix)
        return sorted({it.file for items in located for it in items})


@dataclass(frozen=True, slots=True)
class Code:
    """The machine code of one function of a kernel."""

    tier: Tier
    object: bytes  # ELF, relocatable; has one function, named as in ``Function`` in small letters


@dataclass(frozen=True, slots=True)
class Artifact:
    """A compiled kernel. ``code`` has at least one of its functions: the other may never be needed."""

    description: Description
    code: Mapping[Function, Code]

    def with_code(self, function: Function, code: Code) -> Artifact:
        return replace(self, code={**self.code, function: code})

    def to_bytes(self) -> bytes:
        parts = sorted(self.code.items())
        head = json.dumps(
            {
                "description": _plain(self.description),
                "code": [[function, code.tier, len(code.object)] for function, code in parts],
            },
            separators=(",", ":"),
        ).encode()
        body = b"".join([len(head).to_bytes(_LENGTH_BYTES, "little"), head, *(code.object for _, code in parts)])
        return _MAGIC + hashlib.sha256(body).digest() + body

    @classmethod
    def from_bytes(cls, data: bytes) -> Artifact:
        """Raises ``ArtifactError``."""
        start = len(_MAGIC) + _DIGEST_BYTES
        body = data[start:]
        if data[: len(_MAGIC)] != _MAGIC or hashlib.sha256(body).digest() != data[len(_MAGIC) : start]:
            raise ArtifactError("it is damaged, or no artifact of this version")
        try:
            position = _LENGTH_BYTES + int.from_bytes(body[:_LENGTH_BYTES], "little")
            head = json.loads(body[_LENGTH_BYTES:position])
            code = {}
            for function, tier, size in head["code"]:
                code[Function(function)] = Code(Tier(tier), body[position : position + size])
                position += size
            return cls(_described(head["description"]), code)
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise ArtifactError(f"it cannot be read: {error}") from error


def _plain(d: Description) -> dict[str, Any]:
    numbers = {file: index for index, file in enumerate(d.files)}
    fields = {name: getattr(d, name) for name in Description.__slots__ if name != "instruction_mix"}
    fields["files"] = d.files
    fields["sites"] = [(numbers[site.file], *site.numbers) for site in d.sites]
    fields["block_lines"] = [(numbers[line.file], line.line) for line in d.block_lines]
    fields["shared_arrays"] = [(a.name, a.offset, a.size) for a in d.shared_arrays]
    fields["contents"] = [(c.block, numbers[c.file], c.line, *c[3:]) for c in d.instruction_mix]
    fields["polling"] = (d.polling.heads, d.polling.live)
    fields["parameters"] = [(p.name, p.offset, p.size) for p in d.parameters]
    return fields


def _described(fields: dict[str, Any]) -> Description:
    files = fields.pop("files")
    sites = tuple(_site(files[file], *values) for file, *values in fields.pop("sites"))
    instruction_mix = tuple(
        LineMix(block, files[file], line, tuple(instructions), tuple(flops), *chains)
        for block, file, line, instructions, flops, *chains in fields.pop("contents")
    )
    block_lines = tuple(Line(files[file], line) for file, line in fields.pop("block_lines"))
    shared_arrays = tuple(SharedArray(*array) for array in fields.pop("shared_arrays"))
    heads, live = fields.pop("polling")
    polling = Polling(tuple(heads), tuple(tuple(Range(*r) for r in ranges) for ranges in live))
    x, y, z = fields.pop("block")
    parameters = tuple(Parameter(*p) for p in fields.pop("parameters"))
    waiting = tuple(fields.pop("waiting"))
    symbols = tuple(fields.pop("symbols"))
    return Description(
        block=(x, y, z),
        sites=sites,
        parameters=parameters,
        symbols=symbols,
        block_lines=block_lines,
        shared_arrays=shared_arrays,
        instruction_mix=instruction_mix,
        polling=polling,
        waiting=waiting,
        **fields,
    )


def _site(
    file: str, line: int, size: int, order: int, kind: int, space: int, block: int, form: int, *rest: int
) -> AccessSite:
    return AccessSite(file, line, size, Order(order), Access(kind), Space(space), block, AtomicForm(form), *rest)
