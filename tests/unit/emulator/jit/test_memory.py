"""Loads and stores: widths, vectors, spaces, patterns of addresses, and what the checks say."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from emulator import CudaError
from tests.unit.emulator.jit.conftest import Machine

COPY = """
.visible .entry k(.param .u64 from, .param .u64 to, .param .u32 stride, .param .u32 first)
{{
    .reg .u64 %a, %b, %o; .reg .u32 %i, %s, %f; {registers}
    mad.lo.u32 %i, %ctaid.x, %ntid.x, %tid.x;
    ld.param.u32 %s, [stride]; ld.param.u32 %f, [first]; {index}
    ld.param.u64 %a, [from]; ld.param.u64 %b, [to];
    mul.wide.u32 %o, %i, {size}; add.u64 %a, %a, %o; add.u64 %b, %b, %o;
    ld.global{width}.{kind} {values}, [%a]; st.global{width}.{kind} [%b], {values}; ret;
}}
"""
INDEX = {
    "consecutive": "",
    "strided": "mad.lo.u32 %i, %i, %s, %f;",
    "reversed": "sub.u32 %i, 255, %i;",
    "constant stride": "mul.lo.u32 %i, %i, 3;",
}


COPIES = [
    (kind, width, pattern, block)
    for kind in ("u8", "s8", "b16", "u32", "f32", "b64", "f64")
    for width in (1, 2, 4)
    for pattern in INDEX
    for block in (32, 31)
    if int(kind[1:]) * width <= 128 and (block == 32 or (pattern != "reversed" and width != 2))
]


@pytest.mark.parametrize(("kind", "width", "pattern", "block"), COPIES)
def test_copies(machine: Machine, kind: str, width: int, pattern: str, block: int) -> None:
    bits = int(kind[1:])
    register = f"f{bits}" if kind[0] == "f" else f"b{max(bits, 16)}"
    values = [f"%v{n}" for n in range(width)]
    text = COPY.format(
        registers=f".reg .{register} {', '.join(values)};",
        index=INDEX[pattern],
        size=bits // 8 * width,
        width={1: "", 2: ".v2", 4: ".v4"}[width],
        kind=kind,
        values=values[0] if width == 1 else "{" + ", ".join(values) + "}",
    )
    threads = 8 * block
    stride, first = (5, 2) if pattern == "strided" else (1, 0)
    indices = {
        "consecutive": np.arange(threads),
        "strided": np.arange(threads) * 5 + 2,
        "reversed": 255 - np.arange(threads),
        "constant stride": np.arange(threads) * 3,
    }[pattern]
    rows = np.random.default_rng(0).integers(0, 256, (int(indices.max()) + 1, bits // 8 * width), dtype=np.uint8)
    out = np.zeros_like(rows)
    machine.run(text, "k", 8, block, rows, out, stride, first)
    expected = np.zeros_like(rows)
    expected[indices] = rows[indices]
    assert np.array_equal(out, expected)
    assert machine.runtime.take_report().memory_fault_count == 0


def test_narrow_loads_extend(machine: Machine) -> None:
    text = """
    .visible .entry k(.param .u64 from, .param .u64 to) {
        .reg .u64 %a, %b, %o, %w; .reg .u32 %i, %x, %y; .reg .b16 %h;
        mov.u32 %i, %tid.x; ld.param.u64 %a, [from]; cvt.u64.u32 %o, %i; add.u64 %a, %a, %o;
        ld.param.u64 %b, [to]; mul.wide.u32 %o, %i, 16; add.u64 %b, %b, %o;
        ld.global.s8 %x, [%a]; st.global.u32 [%b], %x; ld.global.u8 %y, [%a]; st.global.u32 [%b+4], %y;
        ld.global.s8 %w, [%a]; st.global.u64 [%b+8], %w; ret;
    }"""
    data = np.arange(96, 160, dtype=np.uint8)
    out = np.zeros((64, 4), np.uint32)
    machine.run(text, "k", 1, 64, data, out)
    signed = data.view(np.int8).astype(np.int64)
    assert np.array_equal(out[:, 0].view(np.int32), signed)
    assert np.array_equal(out[:, 1], data)
    assert np.array_equal(out[:, 2:].copy().view(np.int64).ravel(), signed)


def test_spaces(machine: Machine) -> None:
    """The same value through parameter, constant, module, local, shared and generic memory."""
    text = """
    .const .align 4 .u32 table[4] = {10, 20, 30, 40};
    .global .align 4 .u32 module[2] = {500, 600};
    .visible .entry k(.param .u64 to, .param .align 4 .b8 many[12]) {
        .local .align 16 .b8 mine[32]; .shared .align 4 .b8 common[256];
        .reg .u64 %a, %b, %o, %g; .reg .u32 %i, %x, %s, %t; .reg .pred %p;
        mov.u32 %i, %tid.x; ld.param.u64 %b, [to]; mul.wide.u32 %o, %i, 4; add.u64 %b, %b, %o;
        and.b32 %t, %i, 3; mul.wide.u32 %o, %t, 4;
        mov.u64 %a, table; add.u64 %a, %a, %o; ld.const.u32 %s, [%a];
        ld.global.u32 %x, [module+4]; add.u32 %s, %s, %x;
        ld.param.u32 %x, [many+8]; add.u32 %s, %s, %x;
        mov.u64 %a, mine; add.u64 %a, %a, %o; st.local.u32 [%a], %s; st.local.u32 [%a+16], %i;
        cvta.local.u64 %g, %a; ld.u32 %x, [%g+16]; add.u32 %s, %s, %x;
        mov.u32 %x, common; shl.b32 %t, %i, 2; add.u32 %x, %x, %t; st.shared.u32 [%x], %s;
        cvt.u64.u32 %g, %x; cvta.shared.u64 %g, %g; isspacep.shared %p, %g;
        ld.u32 %s, [%g]; @%p add.u32 %s, %s, 100000;
        cvta.to.shared.u64 %o, %g; cvt.u32.u64 %t, %o; sub.u32 %t, %t, %x; add.u32 %s, %s, %t;
        ld.local.u32 %x, [mine+16]; st.global.u32 [%b], %s; ret;
    }"""
    out = np.zeros(64, np.uint32)
    machine.run(text, "k", 1, 64, out, (ctypes.c_uint32 * 3)(1000, 2000, 3000))
    assert list(out) == [100000 + 10 * (i % 4 + 1) + 600 + 3000 + i for i in range(64)]


WHICH_SPACE = """
.const .align 4 .u32 table[40] = {{1}};
.global .align 4 .u32 module[40];
.visible .entry k(.param .u64 to, .param .align 4 .b8 many[160]) {{
    .local .align 16 .b8 mine[32]; .shared .align 4 .b8 common[160];
    .reg .u64 %a, %b, %o; .reg .u32 %i, %x; .reg .pred %p;
    mov.u32 %i, %tid.x; ld.param.u64 %b, [to]; mad.wide.u32 %b, %i, 4, %b;
    mul.wide.u32 %o, %i, 4; rem.u64 %o, %o, {size}; {address} add.u64 %a, %a, %o;
    isspacep.{space} %p, %a; selp.u32 %x, 1, 2, %p; st.global.u32 [%b], %x; ret;
}}"""
ADDRESSES = {  # of a variable of each space, in generic memory; and the variable's bytes
    "const": ("mov.u64 %a, table; cvta.const.u64 %a, %a;", 160),
    "global": ("mov.u64 %a, module; cvta.global.u64 %a, %a;", 160),
    "param": ("mov.u64 %a, many; cvta.param.u64 %a, %a;", 160),
    "local": ("mov.u64 %a, mine; cvta.local.u64 %a, %a;", 32),
    "shared": ("mov.u64 %a, common; cvta.shared.u64 %a, %a;", 160),
}
INSIDE = {  # what isspacep finds there: parameters lie in the window of global memory
    "const": {"const"},
    "global": {"global"},
    "param": {"param", "param::entry", "global"},
    "local": {"local"},
    "shared": {"shared", "shared::cta", "shared::cluster"},
}


@pytest.mark.parametrize("variable", ADDRESSES)
@pytest.mark.parametrize("asked", sorted(set().union(*INSIDE.values())))
def test_which_space_an_address_is_in(machine: Machine, variable: str, asked: str) -> None:
    """For a whole warp and for eight lanes of one; all lanes at one address, and each at another."""
    address, size = ADDRESSES[variable]
    for apart in (False, True):
        text = WHICH_SPACE.format(address=address, size=size if apart else 4, space=asked)
        out = np.zeros(40, np.uint32)
        machine.run(text, "k", 1, 40, out, (ctypes.c_uint32 * 40)())
        assert set(out.tolist()) == {1 if asked in INSIDE[variable] else 2}


def test_addresses_in_several_spaces(machine: Machine) -> None:
    """Even lanes look at a constant, odd ones at shared memory."""
    text = """
    .const .align 4 .u32 table[4] = {1};
    .visible .entry k(.param .u64 to) {
        .shared .align 4 .b8 common[16]; .reg .u64 %a, %b, %o; .reg .u32 %i, %x, %y; .reg .pred %p, %even;
        mov.u32 %i, %tid.x; ld.param.u64 %b, [to]; mad.wide.u32 %b, %i, 4, %b;
        and.b32 %x, %i, 1; setp.eq.u32 %even, %x, 0;
        mov.u64 %a, table; cvta.const.u64 %a, %a; mov.u64 %o, common; cvta.shared.u64 %o, %o;
        selp.b64 %a, %a, %o, %even;
        isspacep.const %p, %a; selp.u32 %x, 1, 0, %p; isspacep.shared %p, %a; selp.u32 %y, 2, 0, %p;
        or.b32 %x, %x, %y; st.global.u32 [%b], %x; ret;
    }"""
    out = np.zeros(32, np.uint32)
    machine.run(text, "k", 1, 32, out)
    assert out.tolist() == [1, 2] * 16


def test_dynamic_shared_memory_lies_behind_the_static_one(machine: Machine) -> None:
    text = """
    .extern .shared .align 16 .b8 dynamic[];
    .visible .entry k(.param .u64 to) {
        .shared .align 4 .b8 fixed[20]; .reg .u64 %b, %o; .reg .u32 %i, %x, %y, %n;
        mov.u32 %i, %tid.x; shl.b32 %x, %i, 2; mov.u32 %y, dynamic; add.u32 %x, %x, %y; st.shared.u32 [%x], %i;
        bar.sync 0; mov.u32 %n, %dynamic_smem_size; sub.u32 %n, %n, 4; sub.u32 %x, %x, %y; sub.u32 %x, %n, %x;
        add.u32 %x, %x, %y; ld.shared.u32 %i, [%x];
        mov.u32 %n, %tid.x; ld.param.u64 %b, [to]; mul.wide.u32 %o, %n, 4; add.u64 %b, %b, %o; st.global.u32 [%b], %i;
        ret;
    }"""
    out = np.zeros(128, np.uint32)
    machine.run(text, "k", 1, 128, out, shared=512)
    assert list(out) == list(range(127, -1, -1))


READ = """
.visible .entry k(.param .u64 from, .param .u64 to, .param .u32 shift) {
    .reg .u64 %a, %b, %o; .reg .u32 %i, %x, %s;
    mad.lo.u32 %i, %ctaid.x, %ntid.x, %tid.x; ld.param.u32 %s, [shift];
    ld.param.u64 %a, [from]; ld.param.u64 %b, [to]; mul.wide.u32 %o, %i, 4; add.u64 %b, %b, %o;
    cvt.s64.s32 %o, %s; add.u64 %a, %a, %o; mul.wide.u32 %o, %i, 4; add.u64 %a, %a, %o;
    ld.global.u32 %x, [%a]; st.global.u32 [%b], %x; ret;
}"""


@pytest.mark.parametrize("block", [64, 40])
def test_a_read_past_the_end_is_reported_and_goes_on(machine: Machine, block: int) -> None:
    data, out = np.arange(block, dtype=np.uint32), np.zeros(block, np.uint32)
    machine.run(READ, "k", 1, block, data, out, 12)
    assert list(out[:-3]) == list(range(3, block))
    report = machine.runtime.take_report()
    assert report.memory_fault_count >= 1
    fault = report.memory_faults[0]
    assert (fault.kind, fault.is_write, fault.thread, fault.size) == ("out-of-bounds read", False, (block - 3, 0, 0), 4)


def test_a_misaligned_read_is_an_error(machine: Machine) -> None:
    data, out = np.arange(64, dtype=np.uint32), np.zeros(64, np.uint32)
    with pytest.raises(CudaError, match=r"[Mm]isaligned"):
        machine.run(READ, "k", 1, 32, data, out, 2)
    assert machine.runtime.take_report().memory_faults[0].kind == "misaligned access"


def test_a_write_past_the_end_is_dropped_and_an_error(machine: Machine) -> None:
    data, out = np.arange(64, dtype=np.uint32), np.zeros(48, np.uint32)
    with pytest.raises(CudaError):
        machine.run(READ, "k", 1, 64, data, out, 0)
    assert list(out) == list(range(48))
    fault = machine.runtime.take_report().memory_faults[0]
    assert (fault.kind, fault.thread) == ("out-of-bounds write", (48, 0, 0))


def test_shared_accesses_are_checked(machine: Machine) -> None:
    text = """
    .visible .entry k(.param .u32 at) {
        .shared .align 4 .b8 buffer[128]; .reg .u32 %i, %x, %s;
        mov.u32 %i, %tid.x; ld.param.u32 %s, [at]; shl.b32 %x, %i, 2; add.u32 %x, %x, %s; mov.u32 %s, buffer;
        add.u32 %x, %x, %s; st.shared.u32 [%x], %i; ret;
    }"""
    machine.run(text, "k", 1, 32, 0)
    assert machine.runtime.take_report().memory_fault_count == 0
    with pytest.raises(CudaError):
        machine.run(text, "k", 1, 32, 4)
    assert machine.runtime.take_report().memory_faults[0].kind == "out-of-bounds shared write"


ATOMIC = """
.visible .entry k(.param .u64 cells, .param .u64 values, .param .u64 old) {{
    .shared .align 8 .b8 mine[512]; .reg .u64 %a, %b, %c, %o; .reg .u32 %i, %j, %s; .reg .{register} %v, %w, %n;
    mov.u32 %i, %tid.x; ld.param.u64 %a, [cells]; ld.param.u64 %b, [values]; ld.param.u64 %c, [old];
    mul.wide.u32 %o, %i, {size}; add.u64 %b, %b, %o; add.u64 %c, %c, %o; ld.global.{load} %v, [%b];
    and.b32 %j, %i, 3; mul.wide.u32 %o, %j, {size}; add.u64 %a, %a, %o;
    {body}
    ret;
}}
"""
OPERATIONS = {
    "add": lambda a, b: a + b,
    "min": min,
    "max": max,
    "exch": lambda _, b: b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "inc": lambda a, b: 0 if a >= b else a + 1,
    "dec": lambda a, b: b if a == 0 or a > b else a - 1,
}
ATOMICS = [
    *(("u32", n) for n in ("add", "min", "max", "inc", "dec")),
    *(("s32", n) for n in ("add", "min", "max")),
    *(("b32", n) for n in ("exch", "and", "or", "xor")),
    *(("u64", n) for n in ("add", "min", "max")),
    *(("s64", n) for n in ("min", "max")),
    *(("b64", n) for n in ("exch", "and", "or", "xor")),
    ("f32", "add"),
    ("f64", "add"),
]


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize(("kind", "name"), ATOMICS)
def test_atomics_one_lane_after_another(machine: Machine, kind: str, name: str, space: str) -> None:
    dtype = np.dtype(f"{'u' if kind[0] == 'b' else kind[0].replace('s', 'i')}{int(kind[1:]) // 8}")
    size = dtype.itemsize
    if space == "global":
        body = f"atom.global.{name}.{kind} %w, [%a], %v; st.global.{kind} [%c], %w;"
    else:
        body = f"""
            mov.u32 %s, mine; mad.lo.u32 %j, %j, {size}, %s; ld.global.{kind} %n, [%a]; st.shared.{kind} [%j], %n;
            bar.warp.sync -1; atom.shared.{name}.{kind} %w, [%j], %v; st.global.{kind} [%c], %w;
            bar.warp.sync -1; ld.shared.{kind} %n, [%j]; st.global.{kind} [%a], %n;
        """
    register = f"f{8 * size}" if kind[0] == "f" else f"b{8 * size}"
    rng = np.random.default_rng(3)
    cells = rng.integers(-4 if dtype.kind != "u" else 0, 100, 4).astype(dtype)
    values = rng.integers(-50 if dtype.kind != "u" else 0, 120, 32).astype(dtype)
    old = np.zeros(32, dtype)
    expected_cells, expected_old = cells.copy(), old.copy()
    for lane in range(32):
        expected_old[lane] = expected_cells[lane & 3]
        expected_cells[lane & 3] = OPERATIONS[name](expected_cells[lane & 3], values[lane])
    text = ATOMIC.format(register=register, size=size, load=kind, body=body)
    machine.run(text, "k", 1, 32, cells, values, old)
    assert np.array_equal(cells, expected_cells)
    assert np.array_equal(old, expected_old)


def test_compare_and_swap(machine: Machine) -> None:
    text = ATOMIC.format(
        register="b32", size=4, load="b32", body="atom.global.cas.b32 %w, [%a], 7, %v; st.global.u32 [%c], %w;"
    )
    cells, values, old = (
        np.array([7, 8, 7, 7], np.uint32),
        np.arange(100, 132, dtype=np.uint32),
        np.zeros(32, np.uint32),
    )
    machine.run(text, "k", 1, 32, cells, values, old)
    assert list(cells) == [100, 8, 102, 103]
    assert list(old[:8]) == [7, 8, 7, 7, 100, 8, 102, 103]


def test_half_atomics(machine: Machine) -> None:
    text = """
    .visible .entry k(.param .u64 cell) { .reg .u64 %a; .reg .b32 %v, %w; ld.param.u64 %a, [cell];
    mov.b32 %v, 0x40003c00; atom.global.add.noftz.f16x2 %w, [%a], %v; ret; }"""
    cell = np.zeros(2, np.float16)
    machine.run(text, "k", 2, 32, cell)
    assert list(cell) == [64.0, 128.0]


def test_atomics_of_many_blocks_lose_nothing(machine: Machine) -> None:
    text = """
    .visible .entry k(.param .u64 cell) { .reg .u64 %a; ld.param.u64 %a, [cell]; red.global.add.u32 [%a], 1;
    red.global.add.f32 [%a+4], 0f3F800000; ret; }"""
    cell = np.zeros(2, np.uint32)
    machine.run(text, "k", 300, 96, cell)
    assert cell[0] == 28800
    assert cell[1:].view(np.float32)[0] == 28800


@pytest.mark.parametrize("size", [4, 8, 16])
def test_asynchronous_copies_fill_with_zeros(machine: Machine, size: int) -> None:
    text = f"""
    .visible .entry k(.param .u64 from, .param .u64 to) {{
        .shared .align 16 .b8 buffer[512]; .reg .u64 %a, %b, %o; .reg .u32 %i, %s, %w, %x; .reg .pred %p; .reg .b16 %h;
        mov.u32 %i, %tid.x; ld.param.u64 %a, [from]; ld.param.u64 %b, [to]; mul.wide.u32 %o, %i, {size};
        add.u64 %a, %a, %o; add.u64 %b, %b, %o; mov.u32 %s, buffer; mad.lo.u32 %s, %i, {size}, %s;
        setp.lt.u32 %p, %i, 20; selp.u32 %w, {size}, 3, %p;
        cp.async.ca.shared.global [%s], [%a], {size}, %w; cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;
        mov.u32 %x, 0;
        LOOP: ld.shared.u8 %h, [%s]; st.global.u8 [%b], %h; add.u32 %s, %s, 1; add.u64 %b, %b, 1; add.u32 %x, %x, 1;
        setp.lt.u32 %p, %x, {size}; @%p bra LOOP; ret;
    }}"""
    data = np.random.default_rng(4).integers(1, 256, (32, size), dtype=np.uint8)
    out = np.zeros_like(data)
    machine.run(text, "k", 1, 32, data, out)
    expected = data.copy()
    expected[20:, 3:] = 0
    assert np.array_equal(out, expected)


@pytest.mark.parametrize(
    ("instruction", "named"),
    [
        ("tex.2dms.v4.f32.s32 {%f, %f, %f, %f}, [%a, {%r, %r, %r, %r}];", "its .2dms"),
        ("tex.2d.v4.f32.f32 {%f, %f, %f, %f}, [%a, {%f, %f}], {%r, %r};", "tex.2d"),
        ("sust.p.2d.v4.b32.trap [%a, {%r, %r}], {%r, %r, %r, %r};", "its .p"),
        (
            "cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes "
            "[%r], [%a, {%r, %r, %r}], [%r], {%r};",
            "its .im2col::w",
        ),
        ("frobnicate.u32 %r, %r;", "frobnicate.u32"),
        # Modifiers that change what the instruction means, of later architectures: not the same without them.
        ("min.xorsign.abs.f16x2 %r, %r, %r;", "its .xorsign"),
        ("st.async.shared::cluster.b32 [%r], %r;", "st.async.shared::cluster.b32"),
        ("wmma.mma.sync.aligned.row.row.m8n8k4.rz.f64.f64.f64.f64 {%a}, {%a}, {%a}, {%a};", "its .rz"),
    ],
)
def test_what_is_not_done_is_refused_by_name_and_line(machine: Machine, instruction: str, named: str) -> None:
    text = f"""
    .version 9.0\n.target sm_80\n.address_size 64\n.file 1 "kernel.cu"
    .visible .entry k() {{ .reg .u64 %a; .reg .u32 %r; .reg .f32 %f;\n.loc 1 42 3\n{instruction} ret; }}"""
    with pytest.raises(CudaError):
        machine.run(text, "k", 1, 32)
    unsupported = machine.runtime.take_report().unsupported or ""
    assert named in unsupported
    assert "kernel.cu:42" in unsupported


@pytest.mark.parametrize("readers", ["one address", "an address each"])
@pytest.mark.parametrize("writers", ["a warp", "one lane"])
@pytest.mark.parametrize(("bits", "count"), [(64, 2), (32, 4), (32, 2)])
def test_a_vector_is_never_seen_half_written(
    machine: Machine, bits: int, count: int, writers: str, readers: str
) -> None:
    """Of 8 or 16 bytes, as CUB's tile states are: a value, and beside it the flag that says that it is there."""
    names = [f"%w{n}" for n in range(count)]
    step = bits // 8 * count
    differ = "\n".join(f"setp.ne.b{bits} %q, %w0, {name}; @%q bra TORN;" for name in names[1:])
    text = f"""
    .visible .entry k(.param .u64 cells, .param .u64 torn, .param .u32 rounds)
    {{
        .reg .pred %p, %q; .reg .u64 %a, %o, %t; .reg .u32 %i, %b, %r, %n; .reg .b{bits} %v, %w<4>;
        ld.param.u64 %a, [cells]; ld.param.u64 %t, [torn]; ld.param.u32 %n, [rounds];
        mov.u32 %i, %tid.x; mov.u32 %r, 0; mov.u32 %b, %ctaid.x;
        setp.ne.u32 %q, %b, 0; @%q bra READ;
        {"setp.ne.u32 %q, %i, 0; @%q bra DONE;" if writers == "one lane" else ""}
    WRITE:
        cvt.u{bits}.u32 %v, %r;
        st.relaxed.gpu.global.v{count}.b{bits} [%a], {{{", ".join(["%v"] * count)}}};
        add.u32 %r, %r, 1; setp.lt.u32 %p, %r, %n; @%p bra WRITE; bra DONE;
    READ:
        sub.u32 %i, 31, %i;
        {f"mul.wide.u32 %o, %i, {step}; add.u64 %a, %a, %o;" if readers == "an address each" else ""}
    AGAIN:
        ld.relaxed.gpu.global.v{count}.b{bits} {{{", ".join(names)}}}, [%a];
        {differ}
        add.u32 %r, %r, 1; setp.lt.u32 %p, %r, %n; @%p bra AGAIN; bra DONE;
    TORN:
        red.global.add.u32 [%t], 1;
    DONE:
        ret;
    }}"""
    cells, torn = np.zeros(32 * step, np.uint8), np.zeros(1, np.uint32)
    machine.run(text, "k", 2, 32, cells, torn, 500_000)
    assert torn[0] == 0
