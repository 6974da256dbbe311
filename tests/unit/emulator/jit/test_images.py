"""Textures and surfaces in hand-written PTX: queries, reductions, handles that differ, integer coordinates."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator

import numpy as np
import pytest

from tests.unit.emulator.jit.conftest import Machine

_UNSIGNED, _SURFACES, _ARRAY = 1, 2, 0
_WIDTH, _HEIGHT = 40, 6


class _Images:
    """Arrays of 32-bit unsigned integers, with an object of each kind."""

    def __init__(self, machine: Machine) -> None:
        self._library = ctypes.CDLL(str(machine.path))
        self._arrays: list[ctypes.c_void_p] = []

    def make(self, values: np.ndarray[tuple[int, int], np.dtype[np.uint32]]) -> tuple[ctypes.c_uint64, ctypes.c_uint64]:
        """Returns the handles of a texture and a surface, of one array."""
        array, texture, surface = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_uint64()
        format_ = struct.pack("5i", 32, 0, 0, 0, _UNSIGNED)
        height, width = values.shape
        sizes = ctypes.c_size_t(width), ctypes.c_size_t(height)
        self._try("cudaMallocArray", ctypes.byref(array), format_, *sizes, _SURFACES)
        self._arrays.append(array)
        row = ctypes.c_size_t(4 * width)
        zero = ctypes.c_size_t(0)
        self._try("cudaMemcpy2DToArray", array, zero, zero, values.tobytes(), row, row, ctypes.c_size_t(height), 1)
        resource = struct.pack("<iiQ", _ARRAY, 0, array.value or 0).ljust(144, b"\0")
        self._try("cudaCreateTextureObject", ctypes.byref(texture), resource, bytes(72), None)
        self._try("cudaCreateSurfaceObject", ctypes.byref(surface), resource)
        return texture, surface

    def free(self) -> None:
        for array in self._arrays:
            self._try("cudaFreeArray", array)

    def _try(self, name: str, *arguments: object) -> None:
        assert self._library[name](*arguments) == 0, name


@pytest.fixture
def images(machine: Machine) -> Iterator[_Images]:
    made = _Images(machine)
    yield made
    made.free()


def _values(seed: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint32]]:
    return np.random.default_rng(seed).integers(0, 1 << 30, (_HEIGHT, _WIDTH), dtype=np.uint32)


_KERNEL = """
.visible .entry k(.param .u64 first, .param .u64 second, .param .u64 to) {{
    .reg .u64 %a, %b, %o, %t; .reg .u32 %x, %y, %z, %w, %i, %r; .reg .pred %p;
    ld.param.u64 %a, [first]; ld.param.u64 %b, [second]; ld.param.u64 %o, [to]; mov.u32 %i, %tid.x; mov.u32 %r, 0;
    setp.lt.u32 %p, %i, 20;
    {body}
    mul.wide.u32 %t, %i, 4; add.u64 %o, %o, %t; st.global.u32 [%o], %r; ret;
}}"""


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("width", _WIDTH),
        ("height", _HEIGHT),
        ("depth", 1),
        ("array_size", 1),
        ("num_mipmap_levels", 1),
        ("normalized_coords", 0),
    ],
)
@pytest.mark.parametrize("opcode", ["txq", "suq"])
def test_queries(machine: Machine, images: _Images, opcode: str, query: str, answer: int) -> None:
    texture, surface = images.make(_values(1))
    out = np.zeros(32, np.uint32)
    body = f"{opcode}.{query}.b32 %r, [%a];"
    machine.run(_KERNEL.format(body=body), "k", 1, 32, texture if opcode == "txq" else surface, surface, out)
    assert (out == answer).all()


def test_fetches_at_integers_from_several_textures_under_a_guard(machine: Machine, images: _Images) -> None:
    left, right = _values(2), _values(3)
    textures = [images.make(values)[0] for values in (left, right)]
    out = np.zeros(32, np.uint32)
    body = """
    and.b32 %x, %i, 1; setp.eq.u32 %p, %x, 1; selp.u64 %t, %a, %b, %p; mov.u32 %y, 3;
    setp.lt.u32 %p, %i, 20; @%p tex.2d.v4.u32.s32 {%r, %y, %z, %w}, [%t, {%i, %y}];"""
    machine.run(_KERNEL.format(body=body), "k", 1, 32, *textures, out)
    wanted = [(left if lane & 1 else right)[3, lane] if lane < 20 else 0 for lane in range(32)]
    assert out.tolist() == wanted


def test_reductions(machine: Machine, images: _Images) -> None:
    texture, surface = images.make(np.full((_HEIGHT, _WIDTH), 7, np.uint32))
    out = np.zeros(32, np.uint32)
    body = """
    mov.u32 %y, 2; mov.u32 %x, 16; sured.b.add.2d.u32.trap [%b, {%x, %y}], %i;
    mov.u32 %x, 20; @%p sured.b.max.2d.u32.clamp [%b, {%x, %y}], %i;
    mov.u32 %x, -4; sured.b.add.2d.u32.zero [%b, {%x, %y}], %i;
    bar.sync 0; tex.2d.v4.u32.s32 {%r, %x, %z, %w}, [%a, {%i, %y}];"""
    machine.run(_KERNEL.format(body=body), "k", 1, 32, texture, surface, out)
    wanted = np.full(32, 7)
    wanted[4], wanted[5] = 7 + sum(range(32)), 19
    assert out.tolist() == wanted.tolist()


@pytest.mark.parametrize(
    ("type_", "count"),
    [(type_, count) for type_ in ("b8", "b16", "b32", "b64") for count in (1, 2, 4) if (type_, count) != ("b64", 4)],
)
def test_loads_and_stores_of_every_width(machine: Machine, images: _Images, type_: str, count: int) -> None:
    size = int(type_[1:]) // 8 * count
    values = _values(4)
    (_, source), (texture, target) = images.make(values), images.make(np.zeros_like(values))
    out = np.zeros(32, np.uint32)
    vector, items = f".v{count}" if count > 1 else "", ", ".join(f"%v{n}" for n in range(count))
    register = {"b8": "b16"}.get(type_, type_)
    body = f"""
    .reg .{register} %v<4>; mul.lo.u32 %x, %i, {size}; mov.u32 %y, 1; setp.lt.u32 %p, %x, {4 * 32}; @!%p bra DONE;
    suld.b.2d{vector}.{type_}.trap {{{items}}}, [%a, {{%x, %y}}];
    sust.b.2d{vector}.{type_}.trap [%b, {{%x, %y}}], {{{items}}};
    DONE: mov.u64 %a, 0;"""
    machine.run(_KERNEL.format(body=body), "k", 1, 32, source, target, out)
    machine.run(
        _KERNEL.format(body="mov.u32 %y, 1; tex.2d.v4.u32.s32 {%r, %x, %z, %w}, [%a, {%i, %y}];"),
        "k",
        1,
        32,
        texture,
        target,
        out,
    )
    moved = min(128, 32 * size)
    assert out.tobytes() == values[1].tobytes()[:moved].ljust(128, b"\0")
