# Each program adds its count to the result, which is zero on entry.

import triton
import triton.language as tl


@triton.jit
def add_up(x, count, K, N, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < N
    same = inside & (tl.load(x + at, mask=inside, other=0) == K)
    tl.atomic_add(count, tl.sum(same.to(tl.int32), 0))


def solve(input, output, N, K):
    add_up[(triton.cdiv(N, 4096),)](input, output, K, N, BLOCK=4096)
