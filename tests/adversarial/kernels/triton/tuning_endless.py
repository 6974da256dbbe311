# idea: each configuration but the first never ends, so that choosing one takes for ever
# challenge: vector-add
# devices: emulator
# verdict: AC
# caught by: the choice has a time of its own, and what fails is not chosen

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


@triton.autotune([triton.Config({"ENDLESS": each}) for each in (0, 1, 2, 3, 4, 5)], key=["N"])
@triton.jit
def endless(A, B, C, N, ENDLESS: tl.constexpr):
    at = tl.program_id(0) * 1024 + tl.arange(0, 1024)
    inside = at < N
    total = tl.load(A + at, mask=inside) + tl.load(B + at, mask=inside)
    if ENDLESS > 0:
        while tl.atomic_add(C, 0.0) == tl.atomic_add(C, 0.0):
            total += ENDLESS
    tl.store(C + at, total, mask=inside)


def solve(A, B, C, N):
    endless[(triton.cdiv(N, 1024),)](A, B, C, N)
