# idea: every open descriptor gets a reply that says the call took no time
# challenge: vector-add
# devices: emulator
# verdict: SV or RE or AC or WA
# caught by: replies are bound to their requests by a nonce

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
import struct
import sys


def solve(A, B, C, N):
    honest(A, B, C, N)
    if "judge.runner.main" not in sys.modules:
        return
    forged = struct.pack("<IHHQI", 0x4A475047, 4 | 0x8000, 0, 1, 8) + struct.pack("<d", 0.0)
    for number in range(3, 64):
        try:
            os.write(number, forged)
        except OSError:
            pass
