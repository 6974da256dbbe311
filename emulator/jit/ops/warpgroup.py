"""``wgmma``: products of a warpgroup, of which each warp makes its own 16 rows."""

from __future__ import annotations

import re

from emulator.jit.abi import Access, Space
from emulator.jit.builder import LANES, Value
from emulator.jit.emitter import Emitter
from emulator.jit.ops.registry import emits
from emulator.ptx.ir import Imm, Instruction, Operand, Vec

_SHAPE = re.compile(r"m64n(\d+)k(\d+)$")
#: As native/exec/warpgroup.cpp has them.
_CODES = {"f16": 0, "bf16": 1, "tf32": 2, "s8": 4, "u8": 5, "f32": 9, "s32": 10, "e4m3": 11, "e5m2": 12}
_HALVES = frozenset(("f16", "bf16"))
#: k, and the types of d, by the type of a.
_FORMS = {
    "f16": (16, ("f16", "f32")),
    "bf16": (16, ("f32",)),
    "tf32": (8, ("f32",)),
    "e4m3": (32, ("f16", "f32")),
    "e5m2": (32, ("f16", "f32")),
    "s8": (32, ("s32",)),
    "u8": (32, ("s32",)),
}


@emits("wgmma")
def wgmma(e: Emitter, i: Instruction) -> None:
    match i.modifiers[0]:
        case "mma_async":
            _multiply(e, i)
        case "commit_group":
            e.call("emu_wgmma_commit", "ptr %ctx")
        case "fence":
            e.b.compiler_barrier()
        case _:
            raise e.unsupported()


def _form(e: Emitter, i: Instruction) -> tuple[int, str, str, str]:
    """Returns (n, type of d, of a, of b)."""
    shape = next((found for m in i.modifiers if (found := _SHAPE.match(m))), None)
    names = [m for m in i.modifiers if m in _CODES]
    if shape is None or len(names) != 3:
        raise e.unsupported()
    d, a, b = names
    n, k = int(shape.group(1)), int(shape.group(2))
    expected, results = _FORMS.get(a, (0, ()))
    alike = a == b or {a, b} in ({"e4m3", "e5m2"}, {"s8", "u8"})
    odd = d == "s32" and n % 16 and n not in (8, 24)
    if k != expected or d not in results or not alike or n % 8 or not 8 <= n <= 256 or odd:
        raise e.unsupported()
    return n, d, a, b


def _constant(e: Emitter, operand: Operand) -> int:
    value = e.constant(operand)
    if value is None:
        raise e.unsupported()
    return value


def _multiply(e: Emitter, i: Instruction) -> None:
    b = e.b
    n, d_type, a_type, b_type = _form(e, i)
    target, left, right, *rest = i.operands
    if not isinstance(target, Vec) or len(target.items) != n // (4 if d_type == "f16" else 2):
        raise e.unsupported()
    scale = e.read(rest[0], "i1") if rest and not isinstance(rest[0], Imm) else None
    keeps = e.b.ballot(e.materialise(scale)).text if scale is not None else str(-int(bool(_constant(e, rest[0]))))
    signs = [_constant(e, operand) for operand in rest[1:3]]
    transposed = [_constant(e, operand) for operand in rest[3:]]
    if isinstance(left, Vec):
        transposed.insert(0, 0)
    transposed += [0] * (2 - len(transposed))
    if any(transposed) and a_type not in _HALVES:
        raise e.unsupported()
    code = _CODES[a_type] | _CODES[b_type] << 4 | _CODES[d_type] << 8 | transposed[0] << 12 | transposed[1] << 13
    code |= sum(1 << 14 + n for n, sign in enumerate(signs) if sign < 0) | int(i.has("satfinite")) << 16
    site = e.unit.site(i, Access.LOAD, Space.SHARED, 16, 4)
    if isinstance(left, Vec):
        if len(left.items) != 4:
            raise e.unsupported()
        of_a = f"ptr {e.spill(*(e.read(item, 'i32') for item in left.items))}", "ptr null"
    else:
        of_a = "ptr null", f"ptr {e.spill(_uniform(e, left))}"
    of_b = f"ptr {e.spill(_uniform(e, right))}"
    sums = e.fragment(len(target.items))
    for number, item in enumerate(target.items):
        e.b.store(f"<{LANES} x i32>", e.b.spread(e.read(item, "i32")), e.b.offset(sums, 4 * LANES * number), 64)
    b.compiler_barrier()
    e.call(
        "emu_wgmma", "ptr %ctx", f"i32 {site}", f"i32 {n}", f"i32 {code}", *of_a, of_b, f"i32 {keeps}", f"ptr {sums}"
    )
    for number, item in enumerate(target.items):
        e.write(item, e.fill(sums, "i32", number))


def _uniform(e: Emitter, descriptor: Operand) -> Value:
    """The first lane's descriptor, which is every lane's."""
    return e.first(e.read(descriptor, "i64"))


def report_early_use(e: Emitter, i: Instruction, product: Instruction) -> None:
    """Emits: the instruction uses registers of a ``wgmma`` that is in flight."""
    site = e.unit.site(i, Access.NONE, Space.GENERIC, 1)
    of = e.unit.site(product, Access.LOAD, Space.SHARED, 16, 4)
    e.call("emu_wgmma_early", "ptr %ctx", f"i32 {site}", f"i32 {of}", f"i32 {e.active_bits().text}")
