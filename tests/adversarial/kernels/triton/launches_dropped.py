# idea: the launcher is replaced after the first call by one that launches every second time only
# challenge: vector-add
# devices: emulator
# verdict: TI or WA
# caught by: what is not launched is not in the outputs, in the runner or in the replay

import triton
import triton.language as tl


@triton.jit
def add(A, B, C, N, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < N
    total = tl.load(A + at, mask=inside) + tl.load(B + at, mask=inside)
    tl.store(C + at, total, mask=inside)


def honest(A, B, C, N):
    add[(triton.cdiv(N, 1024),)](A, B, C, N, BLOCK=1024)


import sys


def solve(A, B, C, N):
    program = sys.modules.get("judge.runner.triton.program")
    honest(A, B, C, N)
    if program is not None:
        program.CompiledLauncher.launch = lambda *_: None
