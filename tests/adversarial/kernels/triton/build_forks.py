# idea: processes started at the top of the file, while it is built
# challenge: vector-add
# devices: emulator
# verdict: CE or AC or RE
# caught by: the build jail's limit of processes; those that are left end with the jail

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

for _ in range(5000):
    try:
        if os.fork() == 0:
            while True:
                pass
    except OSError:
        break


def solve(A, B, C, N):
    honest(A, B, C, N)
