# A program a row: both halves are read once, and the tables' equal halves too.

import triton
import triton.language as tl


@triton.jit
def turn(q, cosine, sine, output, D, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * D
    half = D // 2
    at = tl.arange(0, BLOCK)
    inside = at < half
    c = tl.load(cosine + first + at, mask=inside)
    s = tl.load(sine + first + at, mask=inside)
    low = tl.load(q + first + at, mask=inside)
    high = tl.load(q + first + half + at, mask=inside)
    tl.store(output + first + at, low * c - high * s, mask=inside)
    tl.store(output + first + half + at, high * c + low * s, mask=inside)


def solve(Q, cos, sin, output, M, D):
    block = triton.next_power_of_2(D // 2)
    turn[(M,)](Q, cos, sin, output, D, BLOCK=block, num_warps=1 if block <= 128 else 4)
