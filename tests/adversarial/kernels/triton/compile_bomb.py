# idea: loops that the compiler unrolls millions of times
# challenge: vector-add
# devices: emulator
# verdict: CE
# caught by: the build's limits of time and memory

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
def bomb(C, N, ROUNDS: tl.constexpr):
    total = 0
    for first in tl.static_range(ROUNDS):
        for second in tl.static_range(ROUNDS):
            for third in tl.static_range(ROUNDS):
                total = total * 3 + first * second + third + tl.program_id(0)
    tl.store(C, total)


def solve(A, B, C, N):
    bomb[(1,)](C, N, ROUNDS=300)
