# idea: a kernel writes before and behind its output, to reach the judge's own memory
# challenge: vector-add
# devices: emulator
# verdict: RE
# caught by: memcheck, and guard bands on a GPU

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


@triton.jit
def widely(C, N, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK) - BLOCK // 2
    tl.store(C + N + at, 0.0)


def solve(A, B, C, N):
    honest(A, B, C, N)
    widely[(1,)](C, N, BLOCK=256)
