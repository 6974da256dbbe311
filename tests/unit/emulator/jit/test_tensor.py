"""Matrix instructions: fragments laid out as the PTX manual says, products as NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.emulator.jit.conftest import Machine


def fragment_kernel(instruction: str, counts: tuple[int, int, int, int], wide: bool = False) -> str:
    """Loads each lane's registers of a, b and c (lane-major arrays), and stores those of d."""
    a, b, c, d = counts
    kind = "f64" if wide else "b32"
    size = 8 if wide else 4
    lists = {n: "{" + ", ".join(f"%{n}{k}" for k in range(m)) + "}" for n, m in zip("abcd", counts, strict=True)}
    loads = ""
    for name, count in (("a", a), ("b", b), ("c", c)):
        loads += f"ld.param.u64 %p, [{name}]; mul.wide.u32 %o, %i, {size * count}; add.u64 %p, %p, %o;"
        loads += "".join(f"ld.global.{kind} %{name}{k}, [%p+{size * k}];" for k in range(count))
    stores = f"ld.param.u64 %p, [d]; mul.wide.u32 %o, %i, {size * d}; add.u64 %p, %p, %o;"
    stores += "".join(f"st.global.{kind} [%p+{size * k}], %d{k};" for k in range(d))
    return f"""
    .visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) {{
        .reg .u64 %p, %o; .reg .u32 %i; .reg .{kind} %a<9>, %b<9>, %c<9>, %d<9>; mov.u32 %i, %tid.x;
        {loads} {instruction} {lists["d"]}, {lists["a"]}, {lists["b"]}, {lists["c"]}; {stores} ret;
    }}"""


def fragment_a(matrix: np.ndarray, per: int) -> np.ndarray:
    """(32 lanes, registers, per): the manual's layout of A for m16 (or m8) and any k."""
    rows, columns = matrix.shape
    registers = []
    for step in range(columns // (4 * per)):
        for half in range(max(1, rows // 8)):
            block = matrix[8 * half : 8 * half + 8, 4 * per * step : 4 * per * (step + 1)]
            registers.append(block.reshape(32, per))
    return np.stack(registers, 1)


def fragment_b(matrix: np.ndarray, per: int) -> np.ndarray:
    return fragment_a(np.ascontiguousarray(matrix.T), per)


def fragment_c(matrix: np.ndarray) -> np.ndarray:
    """Returns the fragment of a matrix, of shape (32 lanes, elements)."""
    halves = [matrix[8 * h : 8 * h + 8].reshape(32, 2) for h in range(len(matrix) // 8)]
    return np.concatenate(halves, 1)


def run(machine: Machine, instruction: str, a: np.ndarray, b: np.ndarray, c: np.ndarray, out: np.ndarray) -> np.ndarray:
    wide = a.dtype == np.float64
    unit = 8 if wide else 4
    arrays = [np.ascontiguousarray(x).view(np.uint8).reshape(32, -1) for x in (a, b, c, out)]
    counts = tuple(x.shape[1] // unit for x in arrays)
    machine.run(fragment_kernel(instruction, counts, wide), "k", 1, 32, *arrays)  # type: ignore[arg-type]
    return arrays[3].view(out.dtype).reshape(out.shape)


def floats(shape: tuple[int, int], dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Returns (patterns in the type, values as float64)."""
    values = np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)
    if dtype == "f16":
        half = values.astype(np.float16)
        return half, half.astype(np.float64)
    bits = values.view(np.uint32)
    if dtype == "bf16":
        short = (bits >> 16).astype(np.uint16)
        return short, (short.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if dtype == "tf32":
        bits = bits & 0xFFFFE000
        return bits.view(np.float32), bits.view(np.float32).astype(np.float64)
    return values.astype(np.float64), values.astype(np.float64)


@pytest.mark.parametrize(
    ("shape", "kind", "accumulator"),
    [
        ((16, 8, 16), "f16", "f32"),
        ((16, 8, 16), "f16", "f16"),
        ((16, 8, 8), "f16", "f32"),
        ((16, 8, 16), "bf16", "f32"),
        ((16, 8, 8), "bf16", "f32"),
        ((16, 8, 8), "tf32", "f32"),
        ((16, 8, 4), "tf32", "f32"),
        ((8, 8, 4), "f64", "f64"),
    ],
)
def test_mma_floats(machine: Machine, shape: tuple[int, int, int], kind: str, accumulator: str) -> None:
    m, n, k = shape
    a, exact_a = floats((m, k), kind)
    b, exact_b = floats((k, n), kind)
    dtype = {"f32": np.float32, "f16": np.float16, "f64": np.float64}[accumulator]
    c = np.random.default_rng(9).normal(size=(m, n)).astype(dtype)
    per = {"f16": 2, "bf16": 2}.get(kind, 1)
    instruction = f"mma.sync.aligned.m{m}n{n}k{k}.row.col.{accumulator}.{kind}.{kind}.{accumulator}"
    if kind == "f64":
        instruction = f"mma.sync.aligned.m{m}n{n}k{k}.row.col.f64.f64.f64.f64"
    out = run(machine, instruction, fragment_a(a, per), fragment_b(b, per), fragment_c(c), np.zeros_like(fragment_c(c)))
    expected = exact_a @ exact_b + c.astype(np.float64)
    tolerance = {"f32": 1e-5, "f16": 2e-2, "f64": 1e-12}[accumulator]
    assert np.allclose(out, fragment_c(expected), atol=tolerance)


@pytest.mark.parametrize(("shape", "a_kind", "b_kind"), [
    ((16, 8, 32), "s8", "s8"), ((16, 8, 32), "u8", "s8"), ((16, 8, 16), "s8", "s8"), ((8, 8, 16), "s8", "u8"),
])  # fmt: skip
def test_mma_bytes(machine: Machine, shape: tuple[int, int, int], a_kind: str, b_kind: str) -> None:
    m, n, k = shape
    rng = np.random.default_rng(0)
    dtypes = {"s8": np.int8, "u8": np.uint8}
    a = rng.integers(0, 256, (m, k)).astype(np.uint8).view(dtypes[a_kind])
    b = rng.integers(0, 256, (k, n)).astype(np.uint8).view(dtypes[b_kind])
    c = rng.integers(-1000, 1000, (m, n)).astype(np.int32)
    instruction = f"mma.sync.aligned.m{m}n{n}k{k}.row.col.s32.{a_kind}.{b_kind}.s32"
    out = run(machine, instruction, fragment_a(a, 4), fragment_b(b, 4), fragment_c(c), np.zeros_like(fragment_c(c)))
    assert np.array_equal(out, fragment_c(a.astype(np.int32) @ b.astype(np.int32) + c))


def test_mma_nibbles_and_bits(machine: Machine) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(-8, 8, (16, 64)), rng.integers(-8, 8, (64, 8))
    c = rng.integers(-99, 99, (16, 8)).astype(np.int32)

    def packed(fragment: np.ndarray, bits: int) -> np.ndarray:
        shifts = np.arange(fragment.shape[2], dtype=np.uint64) * bits
        parts = (fragment.astype(np.uint64) & ((1 << bits) - 1)) << shifts
        return parts.sum(2).astype(np.uint32)

    out = run(
        machine,
        "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32",
        packed(fragment_a(a, 8), 4),
        packed(fragment_b(b, 8), 4),
        fragment_c(c),
        np.zeros_like(fragment_c(c)),
    )
    assert np.array_equal(out, fragment_c(a @ b + c))
    a, b = rng.integers(0, 2, (16, 256)), rng.integers(0, 2, (256, 8))
    for name, product in (("xor", (a[:, :, None] ^ b[None]).sum(1)), ("and", a @ b)):
        out = run(
            machine,
            f"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.{name}.popc",
            packed(fragment_a(a, 32), 1),
            packed(fragment_b(b, 32), 1),
            fragment_c(c),
            np.zeros_like(fragment_c(c)),
        )
        assert np.array_equal(out, fragment_c(product + c)), name


WMMA = """
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) {{
    .reg .u64 %pa, %pb, %pc, %pd; .reg .{ab} %a<9>, %b<9>; .reg .{cd} %c<9>, %d<9>;
    ld.param.u64 %pa, [a]; ld.param.u64 %pb, [b]; ld.param.u64 %pc, [c]; ld.param.u64 %pd, [d];
    wmma.load.a.sync.aligned.{la}.{shape}.global.{kind} {{{a}}}, [%pa], {lda};
    wmma.load.b.sync.aligned.{lb}.{shape}.global.{kind} {{{b}}}, [%pb], {ldb};
    wmma.load.c.sync.aligned.row.{shape}.global.{acc} {{{c}}}, [%pc], {n};
    wmma.mma.sync.aligned.{la}.{lb}.{shape}.{types} {{{d}}}, {{{a}}}, {{{b}}}, {{{c}}};
    wmma.store.d.sync.aligned.row.{shape}.global.{acc} [%pd], {{{d}}}, {n};
    ret;
}}
"""


@pytest.mark.parametrize("layouts", ["row.row", "row.col", "col.row", "col.col"])
@pytest.mark.parametrize(
    ("shape", "kind", "acc", "counts"),
    [
        ((16, 16, 16), "f16", "f32", (8, 8, 8)),
        ((32, 8, 16), "f16", "f16", (8, 8, 4)),
        ((8, 32, 16), "f16", "f32", (8, 8, 8)),
        ((16, 16, 16), "bf16", "f32", (4, 4, 8)),
        ((16, 16, 8), "tf32", "f32", (4, 4, 8)),
        ((16, 16, 16), "s8", "s32", (2, 2, 8)),
        ((32, 8, 16), "u8", "s32", (4, 1, 8)),
        ((8, 8, 4), "f64", "f64", (1, 1, 2)),
    ],
)
def test_wmma(
    machine: Machine, shape: tuple[int, int, int], kind: str, acc: str, counts: tuple[int, int, int], layouts: str
) -> None:
    m, n, k = shape
    la, lb = layouts.split(".")
    if kind in ("s8", "u8"):
        dtype = np.int8 if kind == "s8" else np.uint8
        rng = np.random.default_rng(2)
        a, b = (rng.integers(0, 256, s).astype(np.uint8).view(dtype) for s in ((m, k), (k, n)))
        exact_a, exact_b = a.astype(np.float64), b.astype(np.float64)
    else:
        a, exact_a = floats((m, k), kind)
        b, exact_b = floats((k, n), kind)
    cd = {"f32": np.float32, "f16": np.float16, "f64": np.float64, "s32": np.int32}[acc]
    c = np.random.default_rng(3).integers(-9, 9, (m, n)).astype(cd)
    lists = {x: ", ".join(f"%{x}{i}" for i in range(q)) for x, q in zip("abcd", (*counts, counts[2]), strict=True)}
    types = f"{acc}.{acc}" if kind == "f16" else f"{acc}.{kind}.{kind}.{acc}"
    text = WMMA.format(
        shape=f"m{m}n{n}k{k}",
        kind=kind,
        acc=acc,
        la=la,
        lb=lb,
        lda=k if la == "row" else m,
        ldb=n if lb == "row" else k,
        n=n,
        types=types if kind != "f64" else f"rn.{types}",
        ab="f64" if kind == "f64" else "b32",
        cd=acc if acc in ("f32", "f64") else "b32",
        **lists,
    )
    a = np.ascontiguousarray(a if la == "row" else a.T)
    b = np.ascontiguousarray(b if lb == "row" else b.T)
    d = np.zeros_like(c)
    machine.run(text, "k", 1, 32, a, b, c, d)
    tolerance = {"f32": 1e-4, "f16": 2e-2, "f64": 1e-12, "s32": 0}[acc]
    assert np.allclose(d.astype(np.float64), exact_a @ exact_b + c, atol=tolerance)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_ldmatrix(machine: Machine, count: int, transposed: bool) -> None:
    registers = ", ".join(f"%r{n}" for n in range(count))
    text = f"""
    .visible .entry k(.param .u64 from, .param .u64 to) {{
        .shared .align 16 .b8 buffer[512]; .reg .u64 %a, %o; .reg .u32 %i, %s, %t, %r<4>, %x<4>; .reg .b64 %w<2>;
        mov.u32 %i, %tid.x; mul.wide.u32 %o, %i, 16; ld.param.u64 %a, [from]; add.u64 %a, %a, %o;
        ld.global.v4.u32 {{%x0, %x1, %x2, %x3}}, [%a]; mov.u32 %s, buffer; shl.b32 %t, %i, 4; add.u32 %s, %s, %t;
        st.shared.v4.u32 [%s], {{%x0, %x1, %x2, %x3}}; bar.sync 0;
        ldmatrix.sync.aligned.m8n8.x{count}{".trans" if transposed else ""}.shared.b16 {{{registers}}}, [%s];
        ld.param.u64 %a, [to]; mul.wide.u32 %o, %i, {4 * count}; add.u64 %a, %a, %o;
        {"".join(f"st.global.u32 [%a+{4 * n}], %r{n};" for n in range(count))} ret;
    }}"""
    data = np.arange(256, dtype=np.uint16).reshape(4, 8, 8)
    out = np.zeros((32, count, 2), np.uint16)
    machine.run(text, "k", 1, 32, data, out)
    source = data.transpose(0, 2, 1) if transposed else data
    assert np.array_equal(out, source[:count].reshape(count, 32, 2).transpose(1, 0, 2))


def test_movmatrix(machine: Machine) -> None:
    text = """
    .visible .entry k(.param .u64 data) {
        .reg .u64 %a, %o; .reg .u32 %i, %x; mov.u32 %i, %tid.x; ld.param.u64 %a, [data]; mul.wide.u32 %o, %i, 4;
        add.u64 %a, %a, %o; ld.global.u32 %x, [%a]; movmatrix.sync.aligned.m8n8.trans.b16 %x, %x;
        st.global.u32 [%a], %x; ret;
    }"""
    data = np.arange(64, dtype=np.uint16).reshape(8, 8)
    got = data.copy()
    machine.run(text, "k", 1, 32, got)
    assert np.array_equal(got, data.T)


@pytest.mark.parametrize(("a", "b"), [("e4m3", "e4m3"), ("e5m2", "e4m3"), ("e5m2", "e5m2")])
def test_products_of_eight_bit_floats(machine: Machine, a: str, b: str) -> None:
    """Whole numbers and quarters, which both types have, so that the sums are exact."""
    drawn = np.random.default_rng(4).integers(-8, 9, size=(16 * 32 + 32 * 8)) / 4
    left, right = drawn[: 16 * 32].reshape(16, 32), drawn[16 * 32 :].reshape(32, 8)
    c = np.arange(16 * 8, dtype=np.float32).reshape(16, 8)
    out = np.zeros((32, 4), np.float32)
    instruction = f"mma.sync.aligned.m16n8k32.row.col.f32.{a}.{b}.f32"
    given = [_eight_bits(left, a), _eight_bits(right, b)]
    found = run(machine, instruction, fragment_a(given[0], 4), fragment_b(given[1], 4), fragment_c(c), out)
    assert (found == fragment_c((_values(given[0], a) @ _values(given[1], b) + c).astype(np.float32))).all()


def _values(bits: np.ndarray, type_: str) -> np.ndarray:
    """The numbers of 8-bit patterns without NaN: sign, exponent and mantissa taken apart."""
    width = {"e4m3": 3, "e5m2": 2}[type_]
    bias = {"e4m3": 7, "e5m2": 15}[type_]
    exponent, mantissa = (bits & 0x7F) >> width, bits & ((1 << width) - 1)
    scaled = np.where(exponent == 0, mantissa * 2.0 ** (1 - bias - width), 0)
    normal = (2.0**-width * mantissa + 1) * 2.0 ** (exponent.astype(np.float64) - bias)
    return np.where(bits & 0x80, -1, 1) * np.where(exponent == 0, scaled, normal)


def _eight_bits(values: np.ndarray, type_: str) -> np.ndarray:
    """The patterns of the nearest numbers of a type."""
    patterns = np.array([each for each in range(256) if each & 0x7F < {"e4m3": 0x7F, "e5m2": 0x7C}[type_]], np.uint8)
    table = _values(patterns, type_)
    return patterns[np.abs(values[..., None] - table).argmin(-1)]
