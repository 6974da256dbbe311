# Each program takes 1024 elements.

import triton
import triton.language as tl


@triton.jit
def each(x, y, lo, hi, N, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < N
    value = tl.load(x + at, mask=inside)
    tl.store(y + at, tl.minimum(tl.maximum(value, lo), hi), mask=inside)


def solve(input, output, lo, hi, N):
    each[(triton.cdiv(N, 1024),)](input, output, lo, hi, N, BLOCK=1024)
