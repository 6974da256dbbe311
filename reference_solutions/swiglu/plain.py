# Each program takes 1024 outputs. The exponential of minus the absolute value never overflows.

import triton
import triton.language as tl


@triton.jit
def each(x, y, half, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < half
    gate = tl.load(x + at, mask=inside, other=0.0)
    small = tl.exp(-tl.abs(gate))
    silu = gate * tl.where(gate < 0, small, 1.0) / (1.0 + small)
    tl.store(y + at, silu * tl.load(x + half + at, mask=inside), mask=inside)


def solve(input, output, N):
    each[(triton.cdiv(N // 2, 1024),)](input, output, N // 2, BLOCK=1024)
