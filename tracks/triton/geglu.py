# Each program makes 1024 outputs. One program serves all sizes: nothing is compiled for a length that 16 divides.

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["half"])
def each(x, y, half, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < half
    value = tl.load(x + at, mask=inside)
    gate = tl.load(x + half + at, mask=inside)
    tl.store(y + at, value * 0.5 * gate * (1.0 + tl.erf(gate * 0.7071067811865476)), mask=inside)


def solve(input, output, N):
    each[(triton.cdiv(N // 2, 1024),)](input, output, N // 2, BLOCK=1024)
