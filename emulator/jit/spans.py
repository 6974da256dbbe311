"""Accesses of a block that lie at constant distances from one another: unrolled loops are full of them.

One check of the first and the last byte, made at the first access, then speaks for all. Where it fails, the block is
begun anew in the masked function if it still can be, so that the accesses themselves need not look at the outcome.
"""

from __future__ import annotations

from dataclasses import dataclass

from emulator.jit.builder import Value
from emulator.ptx.cfg import Block
from emulator.ptx.effects import defs_and_uses
from emulator.ptx.ir import Address, Instruction, Reg, Vec

_MOST_BYTES = 1 << 16


@dataclass(slots=True)
class Span:
    """Displacements from the base register of the accesses that are checked together."""

    least: int
    most: int
    count: int = 1
    good: Value | None = None  # i1, once the check was made
    is_certain: bool = False  # nothing goes on where the check failed
    anchor: tuple[Value, int] | None = None  # host address (of shared memory) and displacement of the first access


def spans_of(block: Block) -> dict[int, tuple[Span, int]]:
    """By instruction's id: its span and its own displacement. Only of spans with more than one access.

    Those of one span have one base register (not written in between), state space and size, and of global memory one
    kind; they are executed by all lanes, and their distances are multiples of the size, so that all are aligned where
    one is.
    """
    versions: dict[str, int] = {}
    open_spans: dict[tuple[object, ...], Span] = {}
    found: dict[int, tuple[Span, int]] = {}
    for instruction in block.instructions:
        at = _plain_access(instruction)
        if at is not None:
            base, displacement, size = at
            kind = "shared" if instruction.has("shared") else instruction.opcode
            key = (kind, base, versions.get(base, 0), size, displacement % size)
            span = open_spans.get(key)
            if span is not None and max(span.most, displacement) - min(span.least, displacement) < _MOST_BYTES:
                span.least, span.most = min(span.least, displacement), max(span.most, displacement)
                span.count += 1
            else:
                span = open_spans[key] = Span(displacement, displacement)
            found[id(instruction)] = span, displacement
        for name in defs_and_uses(instruction)[0]:
            versions[name] = versions.get(name, 0) + 1
    return {key: (span, at) for key, (span, at) in found.items() if span.count > 1}


def _plain_access(instruction: Instruction) -> tuple[str, int, int] | None:
    """(base register, displacement, bytes) of an ``ld`` or ``st`` of shared or global memory by all lanes."""
    if instruction.opcode not in ("ld", "st") or instruction.guard is not None:
        return None
    if not (instruction.has("shared") or instruction.has("global")):
        return None
    first, second = instruction.operands[:2]  # a cache policy may follow
    address, data = (first, second) if instruction.opcode == "st" else (second, first)
    if not isinstance(address, Address) or not isinstance(address.base, Reg):
        return None
    count = len(data.items) if isinstance(data, Vec) else 1
    return address.base.name, address.offset, instruction.type.size_bytes * count
