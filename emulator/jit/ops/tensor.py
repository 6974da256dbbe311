"""Matrix instructions."""

from __future__ import annotations

import re

from emulator.jit.abi import Access, Space
from emulator.jit.builder import Value
from emulator.jit.emitter import Emitter
from emulator.jit.ops.addressing import lane_addresses, resolve_address, space_of
from emulator.jit.ops.observe import observe
from emulator.jit.ops.registry import emits
from emulator.ptx.ir import Address, Instruction, Operand, Vec
from emulator.ptx.types import TYPES, Kind, ScalarType

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)$")
_EIGHT_BITS = frozenset(("e4m3", "e5m2"))
_NEEDS_WIDER = frozenset(("sp", "sp::ordered_metadata", "kind::f8f6f4", "block_scale"))


def _shape(e: Emitter, i: Instruction) -> tuple[int, int, int]:
    for modifier in i.modifiers:
        found = _SHAPE.match(modifier)
        if found:
            m, n, k = (int(g) for g in found.groups())
            return m, n, k
    raise e.unsupported()


def _types(i: Instruction) -> list[ScalarType]:
    return [scalar for scalar in i.types if scalar.fragment_code is not None]


def _items(operand: Operand) -> tuple[Operand, ...]:
    return operand.items if isinstance(operand, Vec) else (operand,)


def _word(type_: ScalarType) -> str:
    return "i64" if type_.bits == 64 else "i32"


def _read_fragment(e: Emitter, operand: Operand, type_: ScalarType) -> str:
    return e.spill(*(e.read(item, _word(type_)) for item in _items(operand)))


def _registers(elements: int, type_: ScalarType) -> int:
    return elements // 32 // (1 if type_.bits == 64 else 32 // type_.bits)


def _write_fragment(e: Emitter, operand: Operand, type_: ScalarType, pointer: str) -> None:
    for n, item in enumerate(_items(operand)):
        e.write(item, e.fill(pointer, _word(type_), n))


@emits("wmma")
def wmma(e: Emitter, i: Instruction) -> None:
    match i.modifiers[0]:
        case "load":
            _wmma_load(e, i)
        case "store":
            _wmma_store(e, i)
        case "mma":
            _wmma_mma(e, i)
        case _:
            raise e.unsupported()


def _stride(e: Emitter, i: Instruction, position: int, default: int) -> Value:
    return e.read(i.operands[position], "i32") if len(i.operands) > position else e.b.integer("i32", default)


def _leading(shape: tuple[int, int, int], matrix: str, by_column: bool) -> int:
    m, n, k = shape
    rows, columns = {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}[matrix]
    return rows if by_column else columns


def _wmma_load(e: Emitter, i: Instruction) -> None:
    matrix = i.modifiers[1]
    shape, type_ = _shape(e, i), _types(i)[-1]
    by_column = i.has("col")
    elements = {"a": shape[0] * shape[2], "b": shape[2] * shape[1], "c": shape[0] * shape[1]}[matrix]
    count = len(_items(i.operands[0]))
    if count % max(1, _registers(elements, type_)) or not _registers(elements, type_):
        raise e.unsupported()
    space = space_of(i)
    pieces = _piece_sites(e, i, Access.LOAD, space)
    pointers = resolve_address(e, i.operands[1], space)
    size = type_.size_bytes if type_.bits >= 8 else 4
    site = e.unit.site(i, Access.LOAD, space, size)
    out = e.scratch()
    base = e.spill(lane_addresses(e, pointers))
    stride = e.spill(_stride(e, i, 2, _leading(shape, matrix, by_column)))
    _observe_matrix(e, pieces, matrix, shape, type_, by_column, base, stride)
    e.call(
        "emu_wmma_load",
        "ptr %ctx",
        f"i32 {site}",
        f"i32 {e.active_bits().text}",
        f"i32 {'abc'.index(matrix)}",
        *(f"i32 {x}" for x in shape),
        f"i32 {type_.fragment_code}",
        f"i32 {int(by_column)}",
        f"i32 {count}",
        f"ptr {base}",
        f"ptr {stride}",
        f"ptr {out}",
    )
    _write_fragment(e, i.operands[0], type_, out)


def _wmma_store(e: Emitter, i: Instruction) -> None:
    shape, type_ = _shape(e, i), _types(i)[-1]
    by_column = i.has("col")
    space = space_of(i)
    pieces = _piece_sites(e, i, Access.STORE, space)
    pointers = resolve_address(e, i.operands[0], space)
    site = e.unit.site(i, Access.STORE, space, type_.bits // 8)
    base = e.spill(lane_addresses(e, pointers))
    stride = e.spill(_stride(e, i, 2, _leading(shape, "d", by_column)))
    _observe_matrix(e, pieces, "c", shape, type_, by_column, base, stride)
    e.call(
        "emu_wmma_store",
        "ptr %ctx",
        f"i32 {site}",
        f"i32 {e.active_bits().text}",
        *(f"i32 {x}" for x in shape),
        f"i32 {type_.fragment_code}",
        f"i32 {int(by_column)}",
        f"ptr {base}",
        f"ptr {stride}",
        f"ptr {_read_fragment(e, i.operands[1], type_)}",
    )


def _piece_sites(e: Emitter, i: Instruction, kind: Access, space: Space) -> int:
    """Returns the first of the sites of pieces of 1, 2, 4, 8 and 16 bytes; -1 if nothing is observed.

    They follow one another when nobody has asked for a site of this instruction before.
    """
    sites = [e.unit.site(i, kind, space, size, max(1, size // 4)) for size in (1, 2, 4, 8, 16) if e.unit.observe]
    return min(sites, default=-1)


def _observe_matrix(
    e: Emitter,
    pieces: int,
    matrix: str,
    shape: tuple[int, int, int],
    type_: ScalarType,
    by_column: bool,
    base: str,
    stride: str,
) -> None:
    """Emits the call that reports each lane's elements to the observers, in contiguous pieces."""
    if not e.unit.observe:
        return
    e.call(
        "emu_observe_matrix",
        "ptr %ctx",
        f"i32 {pieces}",
        f"i32 {e.active_bits().text}",
        f"i32 {'abc'.index(matrix)}",
        *(f"i32 {x}" for x in shape),
        f"i32 {type_.fragment_code}",
        f"i32 {int(by_column)}",
        f"ptr {base}",
        f"ptr {stride}",
    )


def _wmma_mma(e: Emitter, i: Instruction) -> None:
    types = _types(i)
    if len(types) == 2:  # d and c; a and b are f16
        types = [types[0], TYPES["f16"], TYPES["f16"], types[1]]
    _multiply(e, i, types)


@emits("mma")
def mma(e: Emitter, i: Instruction) -> None:
    if _NEEDS_WIDER & set(i.modifiers):
        raise e.unsupported()
    if any(scalar.name in _EIGHT_BITS for scalar in i.types):
        _multiply_eight_bits(e, i)
        return
    types = _types(i)
    if len(types) != 4:
        raise e.unsupported()
    if _shape(e, i)[2] == 4 and types[1] is TYPES["f16"]:
        raise e.unsupported()  # Volta's shape has a layout of its own
    _multiply(e, i, types)


def _multiply_eight_bits(e: Emitter, i: Instruction) -> None:
    """mma.m16n8k32 of 8-bit floats, as two products of halves, which have all their values.

    The order along k is free as long as both factors have the same: the first product takes the columns of the first
    registers, and of each register the lower two bytes as what a half's fragment has in its first columns.
    """
    d_type, a_type, b_type, c_type = i.types
    a, b = ([e.read(item, "i32") for item in _items(operand)] for operand in i.operands[1:3])
    if _shape(e, i) != (16, 8, 32) or (len(a), len(b)) != (4, 2) or not {c_type.name, d_type.name} <= {"f16", "f32"}:
        raise e.unsupported()
    half = TYPES["f16"].fragment_code
    between = TYPES["f32"]
    pointer, of = _read_fragment(e, i.operands[3], c_type), c_type
    for step in range(2):
        low, high = zip(*(_widened(e, value, a_type) for value in a[2 * step : 2 * step + 2]), strict=True)
        out = e.scratch()
        to = between if step == 0 else d_type
        e.call(
            "emu_mma",
            *(f"i32 {x}" for x in (16, 8, 16)),
            *(f"i32 {code}" for code in (half, half, of.fragment_code, to.fragment_code)),
            "i32 0",
            f"ptr {e.spill(*low, *high)}",
            f"ptr {e.spill(*_widened(e, b[step], b_type))}",
            f"ptr {pointer}",
            f"ptr {out}",
        )
        pointer, of = out, between
    _write_fragment(e, i.operands[0], d_type, pointer)


def _widened(e: Emitter, value: Value, type_: ScalarType) -> list[Value]:
    """Returns four 8-bit floats as two pairs of halves."""
    pairs = (value, e.b.op("lshr", value, e.b.integer("i32", 16)))
    made = []
    for pair in pairs:
        out = e.scratch()
        words = e.spill(e.b.resize(pair, "i16"))
        e.call("emu_from_eight_bits", f"i32 {int(type_.kind is Kind.E5M2)}", f"ptr {words}", f"ptr {out}")
        made.append(e.fill(out, "i32"))
    return made


def _multiply(e: Emitter, i: Instruction, types: list[ScalarType]) -> None:
    m, n, k = _shape(e, i)
    d_type, a_type, b_type, c_type = types
    for operand, elements, type_ in (
        (i.operands[1], m * k, a_type),
        (i.operands[2], k * n, b_type),
        (i.operands[3], m * n, c_type),
        (i.operands[0], m * n, d_type),
    ):
        needed = _registers(elements, type_)
        if not needed or len(_items(operand)) % needed:
            raise e.unsupported()
    flags = int(i.has("satfinite")) | 2 * int(i.has("and"))
    out = e.scratch()
    e.call(
        "emu_mma",
        *(f"i32 {x}" for x in (m, n, k)),
        *(f"i32 {t.fragment_code}" for t in (a_type, b_type, c_type, d_type)),
        f"i32 {flags}",
        f"ptr {_read_fragment(e, i.operands[1], a_type)}",
        f"ptr {_read_fragment(e, i.operands[2], b_type)}",
        f"ptr {_read_fragment(e, i.operands[3], c_type)}",
        f"ptr {out}",
    )
    _write_fragment(e, i.operands[0], d_type, out)


@emits("ldmatrix")
def ldmatrix(e: Emitter, i: Instruction) -> None:
    if not i.has("m8n8") or not i.has("b16"):
        raise e.unsupported()
    items = _items(i.operands[0])
    assert isinstance(i.operands[1], Address)
    space = space_of(i)
    pointers = resolve_address(e, i.operands[1], space)
    site = e.unit.site(i, Access.LOAD, space, 16, 4)
    out = e.scratch()
    rows = e.spill(lane_addresses(e, pointers))
    observe(e, site, rows, e.b.integer("i32", (1 << 8 * len(items)) - 1))
    e.call(
        "emu_ldmatrix",
        "ptr %ctx",
        f"i32 {site}",
        f"i32 {len(items)}",
        f"i32 {int(i.has('trans'))}",
        f"ptr {rows}",
        f"ptr {out}",
    )
    _write_fragment(e, i.operands[0], TYPES["b32"], out)


@emits("movmatrix")
def movmatrix(e: Emitter, i: Instruction) -> None:
    out = e.scratch()
    e.call("emu_movmatrix", f"ptr {e.spill(e.read(i.operands[1], 'i32'))}", f"ptr {out}")
    e.write(i.operands[0], e.fill(out, "i32"))


@emits("stmatrix")
def stmatrix(e: Emitter, i: Instruction) -> None:
    if not i.has("m8n8") or not i.has("b16"):
        raise e.unsupported()
    items = _items(i.operands[1])
    space = space_of(i)
    pointers = resolve_address(e, i.operands[0], space)
    site = e.unit.site(i, Access.STORE, space, 16, 4)
    rows = e.spill(lane_addresses(e, pointers))
    observe(e, site, rows, e.b.integer("i32", (1 << 8 * len(items)) - 1))
    e.call(
        "emu_stmatrix",
        "ptr %ctx",
        f"i32 {site}",
        f"i32 {len(items)}",
        f"i32 {int(i.has('trans'))}",
        f"ptr {rows}",
        f"ptr {_read_fragment(e, i.operands[1], TYPES['b32'])}",
    )
