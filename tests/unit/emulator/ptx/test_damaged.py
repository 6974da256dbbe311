"""Damaged PTX and fat binaries: refused by their own errors, or read, but nothing else."""

from __future__ import annotations

import contextlib

from hypothesis import example, given, settings
from hypothesis import strategies as st

from emulator.jit.shapes import analyse_shapes
from emulator.ptx import PtxError, Unsupported, parse_module
from emulator.ptx.program import build_program
from emulator.runtime import fatbinary
from tests.sampling import examples
from tests.unit.emulator.jit.conftest import fat_binary

PTX = """
.version 9.0
.target sm_80
.address_size 64
.file 1 "kernel.cu"
.extern .shared .align 16 .b8 dynamic[];
.global .align 8 .u64 table[2] = {generic(again), 7};
.const .align 4 .b8 text[6] = {0xFF(generic(text)), 104, 105, 10, 0, 1};
.func (.param .b32 result) again(.param .b32 n, .param .align 4 .b8 row[8])
{
    .reg .b32 %r<4>; .reg .pred %p;
    ld.param.u32 %r1, [n]; setp.eq.u32 %p, %r1, 0; @%p bra DONE;
    { .param .b32 param0; .param .align 4 .b8 param1[8]; st.param.b32 [param0], %r1; st.param.b32 [param1+4], %r1;
      .param .b32 retval0; call.uni (retval0), again, (param0, param1); ld.param.b32 %r2, [retval0]; }
    DONE: st.param.b32 [result], %r2; ret;
}
.visible .entry k(.param .u64 out, .param .u32 n)
.maxntid 128, 1, 1
{
    .reg .b64 %rd<6>; .reg .b32 %r<9>; .reg .f32 %f<3>; .reg .pred %p<2>;
    .local .align 8 .b8 depot[32];
    .loc 1 7 3
    ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
    mov.b64 %rd4, again;
    prototype: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 4 .b8 _[8]);
    { .param .b32 param0; .param .align 4 .b8 param1[8]; st.param.b32 [param0], %r1; .param .b32 retval0;
      call (retval0), %rd4, (param0, param1), prototype; ld.param.b32 %r2, [retval0]; }
    targets: .branchtargets FIRST, SECOND;
    @%p1 brx.idx %r2, targets;
    FIRST: .loc 1 9 3, function_name text, inlined_at 1 8 2
    ld.global.v2.u32 {%r3, _}, [%rd2+8]; mov.f32 %f1, 0f3F800000; fma.rn.f32 %f2, %f1, 0d4000000000000000, %f1;
    SECOND: shfl.sync.down.b32 %r4|%p1, %r3, 1, 31, -1; bar.red.popc.u32 %r5, 0, %p1; @!%p1 bra FIRST;
    st.shared.u32 [dynamic+4], %r5; st.local.u32 [depot], %r4; atom.global.add.u32 %r6, [%rd2], 1; ret;
}
"""


def damage(data: bytes, cuts: list[tuple[int, int, bytes]]) -> bytes:
    """Each cut replaces bytes: (where, how many, by what)."""
    for where, length, other in cuts:
        at = where % (len(data) + 1)
        data = data[:at] + other + data[at + length :]
    return data


def cuts(words: list[bytes]) -> st.SearchStrategy[list[tuple[int, int, bytes]]]:
    pieces = st.one_of(st.binary(max_size=4), st.sampled_from(words))
    return st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 12), pieces), min_size=1, max_size=3)


def read(text: str) -> None:
    module = parse_module(text)
    for name in list(module.functions):
        program = build_program(module, name)
        analyse_shapes(program, (32, 1, 1))


def test_the_undamaged_text_is_read() -> None:
    module = parse_module(PTX)
    assert build_program(module, "k").uses_stack


@settings(max_examples=examples(250))
@given(cuts([b"{", b"}", b"(", b")", b"[", b"]", b";", b",", b".", b"%", b"@", b"|", b"=", b"<", b">", b":", b"\n"]))
def test_damaged_text(where: list[tuple[int, int, bytes]]) -> None:
    text = damage(PTX.encode(), where).decode("utf-8", errors="replace")
    with contextlib.suppress(PtxError, Unsupported):
        read(text)


@settings(max_examples=examples(250))
@given(cuts([b"\xff" * 8, b"\x00" * 8, b"\x50\xed\x55\xba", (1 << 62).to_bytes(8, "little")]))
@example([(0, 0, b"")])
def test_damaged_fat_binaries(where: list[tuple[int, int, bytes]]) -> None:
    data = damage(fat_binary(PTX), where)
    try:
        images = [image for part in fatbinary.objects(data) for image in fatbinary.ptx_images(part)]
    except fatbinary.FatBinaryError:
        return
    assert all(isinstance(image.text, str) for image in images)
