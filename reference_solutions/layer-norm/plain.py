# A program a row, which it keeps in registers.

import triton
import triton.language as tl


@triton.jit
def normalize(x, weight, bias, y, C, eps, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * C
    at = tl.arange(0, BLOCK)
    inside = at < C
    row = tl.load(x + first + at, mask=inside, other=0.0)
    mean = tl.sum(row, 0) / C
    away = tl.where(inside, row - mean, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(away * away, 0) / C + eps)
    made = away * scale * tl.load(weight + at, mask=inside) + tl.load(bias + at, mask=inside)
    tl.store(y + first + at, made, mask=inside)


def solve(input, weight, bias, output, N, C, eps):
    block = triton.next_power_of_2(C)
    normalize[(N,)](input, weight, bias, output, C, eps, BLOCK=block, num_warps=8 if block > 1024 else 4)
