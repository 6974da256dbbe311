# Each program adds its share of the mean to the result, which is zero on entry.

import triton
import triton.language as tl


@triton.jit
def add_up(x, y, mean, N, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < N
    away = tl.load(x + at, mask=inside, other=0.0) - tl.load(y + at, mask=inside, other=0.0)
    tl.atomic_add(mean, tl.sum(away * away, 0) / N)


def solve(predictions, targets, mse, N):
    add_up[(triton.cdiv(N, 4096),)](predictions, targets, mse, N, BLOCK=4096)
