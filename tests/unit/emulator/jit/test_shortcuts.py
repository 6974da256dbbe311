"""Shortcuts of the uniform function: checks for several accesses at once, short blocks under a mask."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from emulator import CudaError
from tests.unit.emulator.jit.conftest import Machine

# Four words per thread off one base register, as an unrolled loop has them.
FOUR = """
.visible .entry four(.param .u64 in, .param .u64 out)
{
    .reg .b32 %r<9>; .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.u32 %r2, [%rd4];
    ld.global.u32 %r3, [%rd4+256];
    ld.global.u32 %r4, [%rd4+128];
    ld.global.u32 %r5, [%rd4+384];
    add.s64 %rd4, %rd4, 128;
    ld.global.u32 %r6, [%rd4];
    st.global.u32 [%rd5], %r2;
    st.global.u32 [%rd5+128], %r3;
    st.global.u32 [%rd5+256], %r4;
    st.global.u32 [%rd5+384], %r5;
    st.global.u32 [%rd5+512], %r6;
    ret;
}
"""


def test_accesses_off_one_register(machine: Machine) -> None:
    values = np.arange(128, dtype=np.uint32)
    out = np.zeros(160, np.uint32)

    machine.run(FOUR, "four", 3, 32, values, out)

    expected = values.reshape(4, 32)[[0, 2, 1, 3, 1]].ravel()
    np.testing.assert_array_equal(out, expected)
    assert machine.runtime.take_report().memory_fault_count == 0


def test_the_one_that_goes_astray_is_told(machine: Machine) -> None:
    # 100 words are there: the fourth load reaches beyond them, the others do not. Stores likewise.
    values, out = np.arange(100, dtype=np.uint32), np.zeros(100, np.uint32)

    with pytest.raises(CudaError) as caught:
        machine.run(FOUR, "four", 1, 32, values, out)
    assert caught.value.code == 700  # the stores beyond the end
    report = machine.runtime.take_report()

    np.testing.assert_array_equal(out[:96], np.concatenate([values[:32], values[64:96], values[32:64]]))
    assert report.memory_fault_count == 28 + 28 + 32
    assert {fault.is_write for fault in report.memory_faults} == {False, True}


SOME = """
.visible .entry some(.param .u64 in, .param .u64 out, .param .u64 sum, .param .u32 first)
{
    .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
    .shared .align 4 .b8 words[128];
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    ld.param.u64 %rd3, [sum];
    ld.param.u32 %r1, [first];
    mov.u32 %r2, %tid.x;
    shl.b32 %r3, %r2, 2;
    mov.u32 %r4, words;
    add.u32 %r5, %r4, %r3;
    mul.wide.u32 %rd4, %r2, 4;
    add.s64 %rd5, %rd2, %rd4;
    mov.u32 %r6, 1000;
    add.u32 %r6, %r6, %r2;
    st.shared.u32 [%r5], %r6;
    setp.lt.u32 %p1, %r2, %r1;
    @%p1 bra SKIP;
    ld.global.u32 %r7, [%rd1];
    ld.shared.u32 %r8, [%r5];
    add.u32 %r6, %r7, %r8;
    st.shared.u32 [%r5], %r6;
    atom.global.add.u32 %r8, [%rd3], 1;
SKIP:
    ld.shared.u32 %r8, [%r5];
    add.u32 %r8, %r8, %r6;
    st.global.u32 [%rd5], %r8;
    ret;
}
"""


def test_lanes_that_skip_a_short_block(machine: Machine) -> None:
    lanes = np.arange(32)
    counts = []
    for first in (0, 1, 17, 31, 32):
        values, out, total = np.array([5], np.uint32), np.zeros(32, np.uint32), np.zeros(1, np.uint32)

        machine.run(SOME, "some", 1, 32, values, out, total, first)

        one = 1000 + lanes + np.where(lanes >= first, 5, 0)
        np.testing.assert_array_equal(out, 2 * one)
        assert total[0] == 32 - first
        counts.append(machine.runtime.take_report().warp_instructions)
    # The block counts when any lane does it, as on a GPU.
    assert counts == [counts[0]] * 4 + [counts[0] - 5]


# A loop over shared memory: a count, four words off one register, their sum; one access follows an atomic.
ROUNDS = """
.visible .entry rounds(.param .u64 out, .param .u64 count, .param .u32 first, .param .u32 rounds)
{
    .reg .pred %p<2>; .reg .b32 %r<16>; .reg .b64 %rd<6>;
    .shared .align 4 .b8 words[1024];
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [count];
    ld.param.u32 %r1, [first];
    ld.param.u32 %r2, [rounds];
    mov.u32 %r3, %tid.x;
    shl.b32 %r4, %r3, 2;
    mov.u32 %r5, words;
    add.u32 %r6, %r5, %r4;
    st.shared.u32 [%r6], %r3;
    st.shared.u32 [%r6+128], %r3;
    st.shared.u32 [%r6+256], %r3;
    st.shared.u32 [%r6+384], %r3;
    add.u32 %r6, %r6, %r1;
    add.u32 %r15, %r5, %r1;
    mov.u32 %r7, 0;
    mov.u32 %r8, 0;
LOOP:
    add.u32 %r8, %r8, 1;
    ld.shared.u32 %r9, [%r6];
    ld.shared.u32 %r10, [%r6+128];
    add.u32 %r7, %r7, %r9;
    add.u32 %r7, %r7, %r10;
    st.shared.u32 [%r6+256], %r8;
    ld.shared.u32 %r11, [%r6+384];
    add.u32 %r7, %r7, %r11;
    red.global.add.u32 [%rd2], 1;
    ld.shared.u32 %r12, [%r15];
    add.u32 %r7, %r7, %r12;
    setp.lt.u32 %p1, %r8, %r2;
    @%p1 bra LOOP;
    mul.wide.u32 %rd3, %r3, 4;
    add.s64 %rd3, %rd1, %rd3;
    st.global.u32 [%rd3], %r7;
    ret;
}
"""


def test_shared_accesses_of_a_loop(machine: Machine) -> None:
    lanes, counted = np.arange(32, dtype=np.uint32), []
    # 512: all lie within. 628: of the words at +384 the last 29 do not, of the others all do. -4: those of thread 0.
    # 514: misaligned. 4096: all is beyond the end.
    for first in (512, 0, 628, (1 << 32) - 4, 514, 4096):
        out, count = np.zeros(32, np.uint32), np.zeros(1, np.uint32)

        with contextlib.suppress(CudaError):
            machine.run(ROUNDS, "rounds", 1, 32, out, count, first, 3)
        report = machine.runtime.take_report()

        assert count[0] == 3 * 32, first
        counted.append(report.warp_instructions)
        if first == 0:
            np.testing.assert_array_equal(out, 3 * (3 * lanes))
        faults = {628: 3 * 29, (1 << 32) - 4: 3 * (1 + 32), 4096: 3 * (4 * 32 + 32)}.get(first)
        if faults is not None:
            assert report.memory_fault_count == faults, first
        assert bool(report.memory_fault_count) == (first not in (0, 512))
        machine.runtime.clear_errors()
    assert len(set(counted)) == 1
