"""Every instruction of ``scalar.cases`` on the emulated device, against the plain evaluation."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from emulator.jit.ops import EMITTERS
from tests.unit.emulator.jit.conftest import Machine
from tests.unit.emulator.scalar.batches import CELL, ROWS, Batch, batches, mismatches
from tests.unit.emulator.scalar.cases import BY_MANUAL, CASES

BATCHES = batches((*CASES, *BY_MANUAL))
HERE = Path(__file__).parent
RUNTIME = HERE.parents[2] / "integration" / "emulator" / "runtime"
HOPPER = HERE.parent / "hopper"
IMAGES = RUNTIME.parent / "images"


@pytest.mark.exhaustive
@pytest.mark.recorded("tests/unit/emulator")
@pytest.mark.parametrize("batch", BATCHES, ids=[f"{b.name}-{b.cases[0].name.split()[0]}" for b in BATCHES])
def test_instructions(machine: Machine, batch: Batch) -> None:
    """As vectors, as scalars (all lanes alike), and, with part of a warp, under a mask."""
    wrong = []
    ways = [("vector", 32, 32)] if batch.collective else [("vector", 32, 32), ("masked", 31, 31), ("scalar", 32, 1)]
    for way, block, rows_of_block in ways:
        blocks = ROWS // rows_of_block
        out = np.zeros((len(batch.cases), ROWS), np.uint64)
        cells = np.zeros(blocks * block * CELL, np.uint8)
        machine.run(batch.kernel(uniform=way == "scalar"), batch.name, blocks, block, batch.operands(), out, cells)
        wrong += [f"{way}: {m}" for m in mismatches(batch, out, blocks * rows_of_block)]
    assert not wrong, "\n".join(wrong)


# What does more than compute one value from others, and the file whose tests are about it.
ELSEWHERE = {
    HERE / "test_warp.py": "activemask",
    HERE / "test_memory.py": "cvta isspacep cp",
    HERE / "test_tensor.py": "mma wmma ldmatrix movmatrix",
    RUNTIME / "test_asynchronous.py": "mbarrier",
    HOPPER / "products.py": "wgmma",
    HOPPER / "copies.py": "elect stmatrix",
    HOPPER / "tensor_maps.py": "tensormap",
    HOPPER / "clusters.py": "mapa getctarank",
    HERE / "test_images.py": "tex suld sust sured",
    # Written by a template there, or in CUDA C++.
    IMAGES / "model.py": "tld4 txq suq",
    RUNTIME / "test_recursion.py": "stackcheck",
    Path(__file__): "prefetch prefetchu discard applypriority createpolicy fence membar nanosleep pmevent ldu",
    # Programs in CUDA C++: device functions of the runtime, calls with parameters in registers.
    RUNTIME.parent / "launches" / "test_nested.py": "call_device",
    RUNTIME / "test_kernels.py": "call_printf call_assertfail call_malloc call_free param bar barget",
}
# For targets beyond sm_80, accepted because they do nothing: launches do not overlap, and there are registers enough.
BEYOND = {"griddepcontrol", "setmaxnreg"}


def test_no_instruction_is_left_out() -> None:
    """An opcode that the emulator knows has a case in ``scalar.cases``, or is tested where ELSEWHERE says."""
    in_table = set().union(*(case.opcodes for case in CASES))
    elsewhere = {opcode for opcodes in ELSEWHERE.values() for opcode in opcodes.split()}
    assert set(EMITTERS) - in_table - elsewhere - BEYOND == set()
    assert elsewhere - set(EMITTERS) == set()
    for file, opcodes in ELSEWHERE.items():
        text = file.read_text()
        for opcode in opcodes.split() if file.parent == HERE else ():
            assert re.search(rf"(?<![\w.]){opcode}[.; ]", text), f"{file.name} has no {opcode}"


def test_hints_change_nothing(machine: Machine) -> None:
    text = """
    .visible .entry k(.param .u64 from, .param .u64 to) {
        .reg .u64 %a, %b, %o, %policy; .reg .u32 %i, %x, %y;
        mov.u32 %i, %tid.x; mul.wide.u32 %o, %i, 4; ld.param.u64 %a, [from]; add.u64 %a, %a, %o;
        ld.param.u64 %b, [to]; add.u64 %b, %b, %o;
        prefetch.global.L1 [%a]; prefetch.global.L2::evict_last [%a]; prefetchu.L1 [%a]; pmevent 7;
        applypriority.global.L2::evict_normal [%a], 128; nanosleep.u32 20;
        createpolicy.fractional.L2::evict_last.b64 %policy, 1.0;
        ld.global.L1::evict_first.L2::cache_hint.u32 %x, [%a], %policy; ldu.global.u32 %y, [%a];
        membar.cta; membar.gl; membar.sys; fence.acq_rel.cta; fence.sc.gpu; fence.acq_rel.sys;
        add.u32 %x, %x, %y; st.global.L1::no_allocate.L2::cache_hint.u32 [%b], %x, %policy;
        ld.global.cv.u32 %y, [%b]; ld.global.nc.L1::no_allocate.L2::128B.u32 %x, [%a]; add.u32 %x, %x, %y;
        st.global.wt.u32 [%b], %x; discard.global.L2 [%a], 128; ret;
    }"""
    data = np.arange(32, dtype=np.uint32)
    out = np.zeros(32, np.uint32)
    machine.run(text, "k", 1, 32, data, out)
    assert list(out) == [3 * i for i in range(32)]
