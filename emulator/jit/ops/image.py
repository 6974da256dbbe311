"""Textures and surfaces: ``tex``, ``tld4``, ``suld``, ``sust``, ``sured``, and the queries ``txq`` and ``suq``.

Objects are 64-bit handles (PTX's unified mode), which the library knows (``native/exec/images.h``).
"""

from __future__ import annotations

from emulator.jit.abi import Access, Space
from emulator.jit.emitter import Emitter
from emulator.jit.ops.registry import emits
from emulator.ptx.ir import Address, Instruction, Operand, Pair, Reg, Vec

# The numbers are those of native/exec/image_access.h.
_GEOMETRIES = {"1d": 0, "2d": 1, "3d": 2, "a1d": 3, "a2d": 4, "cube": 5, "acube": 6}
_AXES = (1, 2, 3, 1, 2, 3, 3)
_LAYERED = (3, 4, 6)
_CUBES = (5, 6)
_BOUNDARIES = {"trap": 0, "clamp": 1, "zero": 2}
# Those of native/exec/semantics.h.
_COMPONENTS = {"r": 0, "g": 1, "b": 2, "a": 3}
_QUERIES = {"width": 0, "height": 1, "depth": 2, "array_size": 3, "num_mipmap_levels": 4, "normalized_coords": 5}
_OPERATIONS = {"add": 0, "min": 1, "max": 2, "and": 5, "or": 6}
_TEXEL_SIZES = (1, 2, 4, 8, 16)


def _number(e: Emitter, i: Instruction, numbers: dict[str, int]) -> int:
    found = next((numbers[m] for m in i.modifiers if m in numbers), None)
    if found is None:
        raise e.unsupported()
    return found


def _items(operand: Operand) -> tuple[Operand, ...]:
    return operand.items if isinstance(operand, Vec) else (operand,)


def _handle(e: Emitter, operand: Operand) -> str:
    """Returns a slot with the lanes' handles. ``operand``: a register, or an address that stands for it."""
    base = operand.base if isinstance(operand, Address) else operand
    if not isinstance(base, Reg):
        what = f"the instruction {e.instruction.name} of a texture or surface reference"
        raise e.unsupported(f"{what}; use an object (cudaCreateTextureObject)")
    return f"ptr {e.spill(e.read(base, 'i64'))}"


def _place(e: Emitter, operand: Operand, geometry: int) -> tuple[str, str]:
    """Returns slots with the handles and with the coordinates in ``[handle, {…}]``: the layer first."""
    if not isinstance(operand, Vec) or len(operand.items) != 2:
        raise e.unsupported()
    where, coordinates = operand.items
    count = _AXES[geometry] + (geometry in _LAYERED)
    items = _items(coordinates)[:count]
    if len(items) < count:
        raise e.unsupported()
    return _handle(e, where), f"ptr {e.spill(*(e.read(item, 'i32') for item in items))}"


def _texel_sites(e: Emitter, i: Instruction) -> str:
    """Returns the first of the sites of texels of each size, which have numbers one after the other."""
    sites = [e.unit.site(i, Access.LOAD, Space.GLOBAL, size) for size in _TEXEL_SIZES]
    return f"i32 {sites[0]}"


def _write_texels(e: Emitter, target: Operand, out: str) -> None:
    if isinstance(target, Pair):  # whether the texels are resident: they are
        e.write(target.second, e.b.integer("i1", 1))
        target = target.first
    for n, item in enumerate(_items(target)):
        e.write(item, e.fill(out, "i32", n))


@emits("tex", "tld4")
def fetch(e: Emitter, i: Instruction) -> None:
    gathers = i.opcode == "tld4"
    geometry = _number(e, i, _GEOMETRIES)
    derived = i.has("grad")
    level_from = 1 if i.has("level") else 2 if derived else 0
    result, coordinates = i.types[-2:]
    extra = 0 if gathers else (0, 1, 2)[level_from]
    is_known = result.bits == 32 and coordinates.name in ("f32", "s32") and (geometry == 1 or not gathers)
    # With an offset, or a value to compare with, there are more operands.
    if not is_known or len(i.operands) != 2 + extra or (derived and geometry in _CUBES):
        raise e.unsupported()
    code = geometry | (coordinates.name == "s32") << 3 | level_from << 4 | gathers << 6
    if gathers:
        code |= _number(e, i, _COMPONENTS) << 8
    handles, places = _place(e, i.operands[1], geometry)
    levels = [item for operand in i.operands[2:] for item in _items(operand)[: _AXES[geometry]]]
    levels_at = f"ptr {e.spill(*(e.read(item, 'float') for item in levels))}" if levels else "ptr null"
    out = e.scratch()
    lanes = f"i32 {e.active_bits().text}"
    e.call(
        "emu_texture", "ptr %ctx", _texel_sites(e, i), lanes, f"i32 {code}", handles, places, levels_at, f"ptr {out}"
    )
    _write_texels(e, i.operands[0], out)


@emits("txq", "suq")
def query(e: Emitter, i: Instruction) -> None:
    code = _number(e, i, _QUERIES) | (i.opcode == "suq") << 8
    handles = _handle(e, i.operands[1])
    out = e.scratch()
    site = e.unit.site(i, Access.NONE, Space.GENERIC, 1)
    lanes = f"i32 {e.active_bits().text}"
    e.call("emu_texture_query", "ptr %ctx", f"i32 {site}", lanes, f"i32 {code}", handles, f"ptr {out}")
    e.write(i.operands[0], e.fill(out, "i32"))


def _surface(e: Emitter, i: Instruction, kind: Access, place: Operand, count: int) -> tuple[str, ...]:
    """Returns the arguments of a surface's helpers up to the coordinates."""
    geometry = _number(e, i, _GEOMETRIES)
    if geometry in _CUBES:
        raise e.unsupported()
    code = geometry | _number(e, i, _BOUNDARIES) << 4
    site = e.unit.site(i, kind, Space.GLOBAL, i.type.size_bytes * count, count)
    return "ptr %ctx", f"i32 {site}", f"i32 {e.active_bits().text}", f"i32 {code}", *_place(e, place, geometry)


@emits("suld")
def surface_load(e: Emitter, i: Instruction) -> None:
    items = _items(i.operands[0])
    place = _surface(e, i, Access.LOAD, i.operands[1], len(items))
    out = e.scratch()
    e.call("emu_surface_load", *place, f"i32 {i.type.size_bytes | len(items) << 8}", f"ptr {out}")
    for n, item in enumerate(items):
        e.write(item, e.fill(out, i.type.register, n))


@emits("sust")
def surface_store(e: Emitter, i: Instruction) -> None:
    items = _items(i.operands[1])
    place = _surface(e, i, Access.STORE, i.operands[0], len(items))
    values = e.spill(*(e.read(item, i.type.register) for item in items))
    e.call("emu_surface_store", *place, f"i32 {i.type.size_bytes | len(items) << 8}", f"ptr {values}")


@emits("sured")
def surface_reduce(e: Emitter, i: Instruction) -> None:
    if i.type.atomic_code is None:
        raise e.unsupported()
    operation = _number(e, i, _OPERATIONS) | i.type.atomic_code << 4
    (item,) = _items(i.operands[1])
    place = _surface(e, i, Access.ATOMIC, i.operands[0], 1)
    value = e.spill(e.read(item, i.type.register))
    e.call("emu_surface_reduce", *place, f"i32 {operation}", f"ptr {value}")
