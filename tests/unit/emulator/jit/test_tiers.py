"""Where a running program's code comes from: the cache, quick code, better code; results are the same with each."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from emulator.jit.artifact import Tier
from emulator.runtime import runtime as runtime_module
from tests.builds import ROOT
from tests.unit.emulator.jit.conftest import Machine

# Lanes part by their number, and go different numbers of rounds; a barrier in the middle.
KERNEL = """
.visible .entry rounds(.param .u64 out, .param .u32 n)
{
    .reg .pred %p<3>; .reg .b32 %r<9>; .reg .f32 %f<4>; .reg .b64 %rd<4>;
    .shared .align 4 .b8 sums[1024];
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ctaid.x;
    mad.lo.u32 %r4, %r3, 256, %r2;
    cvt.rn.f32.u32 %f1, %r4;
    and.b32 %r5, %r2, 3;
    add.u32 %r5, %r5, %r1;
LOOP:
    fma.rn.f32 %f1, %f1, 0f3F7FFF58, 0f3DCCCCCD;
    sub.u32 %r5, %r5, 1;
    setp.ne.u32 %p1, %r5, 0;
    @%p1 bra LOOP;
    shl.b32 %r6, %r2, 2;
    mov.u32 %r7, sums;
    add.u32 %r8, %r7, %r6;
    st.shared.f32 [%r8], %f1;
    bar.sync 0;
    xor.b32 %r6, %r6, 124;
    add.u32 %r8, %r7, %r6;
    ld.shared.f32 %f2, [%r8];
    add.f32 %f3, %f1, %f2;
    mul.wide.u32 %rd2, %r4, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.f32 [%rd3], %f3;
    ret;
}
"""
BLOCKS = 64


def kernels() -> Any:
    return runtime_module._installed[0].kernels


def launched(machine: Machine, kernel: Any, rounds: int) -> tuple[np.ndarray[Any, Any], int]:
    """(the results, warp instructions)."""
    out = np.zeros(256 * BLOCKS, np.float32)
    machine.runtime.take_report()
    machine.launch(kernel, BLOCKS, 256, out, rounds)
    return out, machine.runtime.take_report().warp_instructions


def tiers() -> list[Tier]:
    """Of the kernel that was compiled last."""
    return [code.tier for code in list(kernels()._kernels.values())[-1].code.artifact.code.values()]


def wait_for_best_code() -> None:
    deadline = time.monotonic() + 60
    while set(tiers()) != {Tier.BEST}:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_better_code_comes_for_hot_kernels_and_does_the_same(machine: Machine) -> None:
    kernel = machine.load(KERNEL, "rounds")
    quick, count = launched(machine, kernel, 30)
    assert set(tiers()) == {Tier.QUICK}

    launched(machine, kernel, 3000)
    wait_for_best_code()
    best, again = launched(machine, kernel, 30)

    np.testing.assert_array_equal(best.view(np.uint32), quick.view(np.uint32))
    assert again == count


def test_code_is_replaced_while_it_runs(machine: Machine) -> None:
    # Many launches on two threads while the code changes under them: all give the same.
    kernel = machine.load(KERNEL, "rounds")
    expected, count = launched(machine, kernel, 400)

    deadline = time.monotonic() + 120
    while set(tiers()) != {Tier.BEST}:
        assert time.monotonic() < deadline
        result, again = launched(machine, kernel, 400)
        assert again == count
        assert np.array_equal(result.view(np.uint32), expected.view(np.uint32))


def test_threads_may_launch_new_kernels_at_once(machine: Machine) -> None:
    results: list[np.ndarray[Any, Any]] = []

    def run(number: int) -> None:
        kernel = machine.load(KERNEL.replace("rounds", f"rounds{number}"), f"rounds{number}")
        out = np.zeros(256 * BLOCKS, np.float32)
        machine.launch(kernel, BLOCKS, 256, out, 20)
        results.append(out)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(results) == 4
    for result in results:
        np.testing.assert_array_equal(result, results[0])


PROCESS = """
import json, sys
from pathlib import Path
import numpy as np
from tests.unit.emulator.jit.conftest import Machine
from tests.unit.emulator.jit.test_tiers import KERNEL, launched
library, cache, rounds = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
machine = Machine(library, cache)
out, count = launched(machine, machine.load(KERNEL, "rounds"), rounds)
print(json.dumps([float(out.astype(np.float64).sum()), count, "llvmlite" in sys.modules]))
"""


def run_process(library: Path, cache: Path, rounds: int = 20) -> tuple[float, int, bool]:
    command = [sys.executable, "-c", PROCESS, str(library), str(cache), str(rounds)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    result, count, compiled = json.loads(done.stdout)
    return result, count, compiled


def test_a_kernel_seen_before_needs_no_llvm(library: Path, tmp_path: Path) -> None:
    result, count, compiled = run_process(library, tmp_path)
    assert compiled

    assert run_process(library, tmp_path) == (result, count, False)

    (file,) = tmp_path.glob("*.kernel")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    assert run_process(library, tmp_path) == (result, count, True)
    assert run_process(library, tmp_path) == (result, count, False)


def test_a_program_may_end_while_better_code_is_made(library: Path, tmp_path: Path) -> None:
    # Just hot when it ends.
    for rounds in (1500, 2500):
        run_process(library, tmp_path / str(rounds), rounds)
