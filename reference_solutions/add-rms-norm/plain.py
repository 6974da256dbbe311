# A program a row, which it keeps in registers.

import triton
import triton.language as tl


@triton.jit
def normalize(x, residual, weight, out, C, eps, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * C
    at = tl.arange(0, BLOCK)
    inside = at < C
    row = tl.load(x + first + at, mask=inside, other=0.0) + tl.load(residual + first + at, mask=inside, other=0.0)
    scale = 1.0 / tl.sqrt(tl.sum(row * row, 0) / C + eps)
    tl.store(out + first + at, row * scale * tl.load(weight + at, mask=inside), mask=inside)


def solve(x, residual, weight, out, N, C, eps):
    block = triton.next_power_of_2(C)
    normalize[(N,)](x, residual, weight, out, C, eps, BLOCK=block, num_warps=8 if block > 1024 else 4)
