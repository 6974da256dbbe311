# idea: the process that chooses configurations is recognized, and one that does nothing is chosen there
# challenge: vector-add
# devices: emulator
# verdict: WA or TI
# caught by: what was chosen is judged: its outputs are checked in every case

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


@triton.autotune([triton.Config({"WORK": 1}), triton.Config({"WORK": 0})], key=["N"])
@triton.jit
def lazy(A, B, C, N, WORK: tl.constexpr):
    if WORK:
        at = tl.program_id(0) * 1024 + tl.arange(0, 1024)
        inside = at < N
        total = tl.load(A + at, mask=inside) + tl.load(B + at, mask=inside)
        tl.store(C + at, total, mask=inside)


def solve(A, B, C, N):
    lazy[(triton.cdiv(N, 1024),)](A, B, C, N)
