"""Cases of ``wgmma``: matrices laid out in shared memory as the PTX manual's canonical layouts have them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from tests.unit.emulator.hopper.device import Array, Device

#: Bytes of a row of the swizzling pattern, by the mode's number in a descriptor.
_WIDTHS = {0: 16, 1: 128, 2: 64, 3: 32}
_SHARED = 96 << 10
#: (n, mode of swizzling) for each type, by where a is.
_FORMS = {"shared": ((16, 0), (32, 1), (48, 2), (80, 3)), "registers": ((24, 1),)}


@dataclass(frozen=True)
class Product:
    """d (64, n) = a (64, k) b (k, n) + c. ``a_in``: registers, or shared memory. ``modes``: swizzling of a and b.

    ``across``: a (b) is stored with neighbours along m (n) beside each other.
    """

    n: int
    a_type: str
    b_type: str
    d_type: str
    a_in: str = "shared"
    modes: tuple[int, int] = (1, 1)
    across: tuple[bool, bool] = (False, False)
    signs: tuple[int, int] = (1, 1)
    keeps: bool = True

    @property
    def k(self) -> int:
        return 32 // _size(self.a_type)

    def __str__(self) -> str:
        layout = "".join("across"[: 6 * x] + str(m) for x, m in zip(self.across, self.modes, strict=True))
        return f"{self.d_type}-{self.a_type}-{self.b_type}-n{self.n}-{self.a_in}-{layout}-{self.signs}-{self.keeps}"


def _size(kind: str) -> int:
    return {"f16": 2, "bf16": 2, "tf32": 4}.get(kind, 1)


def products() -> list[Product]:
    """Returns the cases: each type with each width, each layout of halves, each number of columns."""
    found = [Product(n, "f16", "f16", "f32") for n in (8, 24, 40, 64, 104, 136, 200, 256)]
    kinds = [("f16", "f16", "f16"), ("bf16", "bf16", "f32"), ("tf32", "tf32", "f32")]
    kinds += [(a, b, d) for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2") for d in ("f16", "f32")]
    kinds += [(a, b, "s32") for a in ("s8", "u8") for b in ("s8", "u8")]
    for (a, b, d), a_in in itertools.product(kinds, ("shared", "registers")):
        found += [Product(n, a, b, d, a_in, (mode, mode)) for n, mode in _FORMS[a_in]]
    both = (False, True)
    for kind, of_a, of_b, a_across, b_across in itertools.product(("f16", "bf16"), range(4), range(4), both, both):
        found.append(
            Product(128 if kind == "bf16" else 64, kind, kind, "f32", "shared", (of_a, of_b), (a_across, b_across))
        )
    found += [Product(64, "f16", "f16", "f32", signs=signs) for signs in ((-1, 1), (1, -1), (-1, -1))]
    found += [Product(64, kind, kind, d, keeps=False) for kind, d in (("f16", "f32"), ("s8", "s32"), ("f16", "f16"))]
    return found


def _values(kind: str, shape: tuple[int, int], seed: int) -> tuple[Array, Array]:
    """Returns (patterns, exact values): small integers, so that sums are exact in any order."""
    small = np.random.default_rng(seed).integers(-4, 5, shape)
    if kind == "u8":
        small = np.abs(small)
    if kind in ("s8", "u8"):
        return small.astype(np.int8).view(np.uint8), small
    if kind == "f16":
        return small.astype(np.float16).view(np.uint16), small
    if kind == "bf16":
        return (small.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16), small
    if kind == "tf32":
        return small.astype(np.float32).view(np.uint32), small
    halves = (small.astype(np.float16).view(np.uint16) >> 8).astype(np.uint8)  # e5m2 is the upper half of f16
    if kind == "e5m2":
        return halves, small
    patterns = {0: 0x00, 1: 0x38, 2: 0x40, 3: 0x44, 4: 0x48}  # 1, 2, 3 and 4 with a bias of 7
    table = np.array([patterns[abs(v)] | (0x80 if v < 0 else 0) for v in range(-4, 5)], np.uint8)
    return table[small + 4], small


def _swizzle(offset: int, mode: int) -> int:
    bits = {0: 0, 1: 7, 2: 3, 3: 1}[mode]
    return offset ^ ((offset >> 7) & bits) << 4


def _place(window: Array, base: int, matrix: Array, mode: int, *, across: bool) -> tuple[int, int]:
    """Writes a matrix (rows along m or n, columns along k) to ``window``. Returns (leading, stride) byte offsets."""
    size = matrix.itemsize
    rows, _ = matrix.shape
    width = _WIDTHS[mode]
    group = 8 * width  # eight rows of the pattern
    if across:
        of_row = width // size
        if mode:
            leading, stride = 2 * group, group
        else:
            leading, stride = 128 * (rows // 8), 128
    else:
        leading, stride = (128 * (rows // 8), 128) if not mode else (16, group)
    for row, k in itertools.product(range(rows), range(matrix.shape[1])):
        if across and mode:
            offset = row // of_row * leading + row % of_row * size + k % 8 * width + k // 8 * stride
        elif across:
            offset = row // 8 * stride + row % 8 * size + k % 8 * 16 + k // 8 * leading
        elif mode:
            offset = row // 8 * stride + row % 8 * width + k * size
        else:
            piece, rest = divmod(k * size, 16)
            offset = row // 8 * stride + row % 8 * 16 + piece * leading + rest
        at = _swizzle(base + offset, mode)
        window[at : at + size] = np.frombuffer(matrix[row, k].tobytes(), np.uint8)
    return leading, stride


def _a_registers(matrix: Array) -> Array:
    """(4, 128 threads) words: register r of a lane has row lane / 4 + 8 (r % 2), byte 4 (lane % 4) + 16 (r / 2) on."""
    data = np.ascontiguousarray(matrix).view(np.uint8).reshape(64, 32)
    out = np.zeros((4, 128), np.uint32)
    for r, thread in itertools.product(range(4), range(128)):
        row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (r % 2)
        begin = 4 * (thread % 4) + 16 * (r // 2)
        out[r, thread] = data[row, begin : begin + 4].view(np.uint32)[0]
    return out


def _d_registers(matrix: Array, kind: str) -> Array:
    """(registers, 128 threads) words."""
    n = matrix.shape[1]
    elements = np.zeros((n // 2, 128))
    for i, thread in itertools.product(range(n // 2), range(128)):
        row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (i // 2 % 2)
        elements[i, thread] = matrix[row, 8 * (i // 4) + thread % 4 * 2 + i % 2]
    if kind == "f32":
        return elements.astype(np.float32).view(np.uint32)
    if kind == "s32":
        return elements.astype(np.int32).view(np.uint32)
    halves = elements.astype(np.float16).view(np.uint16).astype(np.uint32)
    return halves[0::2] | halves[1::2] << 16


def _text(case: Product, words: int, layouts: list[tuple[int, int, int, int]]) -> str:
    """``layouts``: of a and b each (base, leading, stride, mode). The window begins at a multiple of 1024 bytes."""
    regs = [f"%d{i}" for i in range(words)]
    descriptors = ""
    for name, (base, leading, stride, mode) in zip(("%da", "%db"), layouts, strict=True):
        constant = leading >> 4 << 16 | stride >> 4 << 32 | mode << 62
        descriptors += f"""add.u32 %r5, %r3, {base}; shr.u32 %r5, %r5, 4; and.b32 %r5, %r5, 0x3fff;
        cvt.u64.u32 {name}, %r5; or.b64 {name}, {name}, {constant:#x};"""
    left = "{%a0, %a1, %a2, %a3}" if case.a_in == "registers" else "%da"
    is_float = case.d_type != "s32"
    rest = "%p1" + (f", {case.signs[0]}, {case.signs[1]}" if is_float else "")
    if case.a_type in ("f16", "bf16"):
        flags = [int(x) for x in case.across]
        rest += "".join(f", {x}" for x in (flags[1:] if case.a_in == "registers" else flags))
    shape, kind = f"m64n{case.n}k{case.k}", "f32" if case.d_type == "f32" else "b32"
    return f"""
    .extern .shared .align 1024 .b8 window[];
    .visible .entry k(.param .u64 image, .param .u64 left, .param .u64 sums) {{
        .reg .b32 %r<9>, %a<4>; .reg .{kind} %d<{words}>; .reg .b64 %rd<9>, %da, %db; .reg .pred %p<4>;
        ld.param.u64 %rd1, [image]; ld.param.u64 %rd2, [left]; ld.param.u64 %rd3, [sums];
        mov.u32 %r1, %tid.x; mov.u32 %r3, window;
        add.u32 %r3, %r3, 1023; and.b32 %r3, %r3, 0xfffffc00;
        shl.b32 %r4, %r1, 2;
        loop: add.u32 %r5, %r3, %r4; cvt.u64.u32 %rd4, %r4; add.u64 %rd4, %rd1, %rd4;
        ld.global.u32 %r6, [%rd4]; st.shared.u32 [%r5], %r6;
        add.u32 %r4, %r4, 512; setp.lt.u32 %p2, %r4, {_SHARED}; @%p2 bra loop;
        fence.proxy.async.shared::cta; bar.sync 0;
        mul.wide.u32 %rd5, %r1, 4; add.u64 %rd2, %rd2, %rd5; add.u64 %rd3, %rd3, %rd5;
        {"".join(f"ld.global.b32 %a{i}, [%rd2+{512 * i}];" for i in range(4))}
        {"".join(f"ld.global.b32 {r}, [%rd3+{512 * i}];" for i, r in enumerate(regs))}
        {descriptors}
        setp.eq.u32 %p1, {int(case.keeps)}, 1;
        wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.{shape}.{case.d_type}.{case.a_type}.{case.b_type}
            {{{", ".join(regs)}}}, {left}, %db, {rest};
        wgmma.commit_group.sync.aligned;
        wgmma.wait_group.sync.aligned 0;
        {"".join(f"st.global.b32 [%rd3+{512 * i}], {r};" for i, r in enumerate(regs))}
        ret;
    }}"""


def run_product(device: Device, case: Product) -> str:
    """Returns how the device's result differs; empty where it does not."""
    a_bits, a = _values(case.a_type, (64, case.k), 1)
    b_bits, b = _values(case.b_type, (case.n, case.k), 2)
    c = np.random.default_rng(3).integers(-9, 10, (64, case.n))
    window = np.zeros(_SHARED, np.uint8)
    layouts = []
    for base, bits, mode, across in zip((0, 48 << 10), (a_bits, b_bits), case.modes, case.across, strict=True):
        layouts.append((base, *_place(window, base, bits, mode, across=across), mode))
    before = _d_registers(c, case.d_type)
    sums = device.upload(before)
    text = _text(case, len(before), layouts)
    device.launch(text, 1, 128, _SHARED + 1024, device.upload(window), device.upload(_a_registers(a_bits)), sums)
    found = device.download(sums, before)
    expected = _d_registers(case.signs[0] * case.signs[1] * (a @ b.T) + c * case.keeps, case.d_type)
    wrong = int(np.count_nonzero(found != expected))
    return f"{case}: {wrong} of {expected.size} registers differ" if wrong else ""
