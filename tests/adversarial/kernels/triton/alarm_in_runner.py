# idea: a timer interrupts the runner between calls, whose code then runs the submission's handler
# challenge: vector-add
# devices: emulator
# verdict: AC or TI or RE or SV or TLE
# caught by: the runner is not believed, whoever runs in it

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


import signal


def solve(A, B, C, N):
    honest(A, B, C, N)
    signal.signal(signal.SIGALRM, lambda *_: honest(A, B, C, N))
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
