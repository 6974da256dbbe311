# Each program makes 1024 outputs. Where 16 divides their number, each thread loads and stores 16 bytes at a time.

import triton
import triton.language as tl


@triton.jit
def each(x, y, half, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < half
    value = tl.load(x + at, mask=inside)
    gate = tl.load(x + half + at, mask=inside)
    tl.store(y + at, value * 0.5 * gate * (1.0 + tl.erf(gate * 0.7071067811865476)), mask=inside)


def solve(input, output, N):
    each[(triton.cdiv(N // 2, 1024),)](input, output, N // 2, BLOCK=1024)
