# idea: another process does the work, or what else it likes
# challenge: vector-add
# devices: emulator
# verdict: SV
# caught by: no new process starts under the runner's filter

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


import os


def solve(A, B, C, N):
    honest(A, B, C, N)
    if os.fork() == 0:
        os._exit(0)
