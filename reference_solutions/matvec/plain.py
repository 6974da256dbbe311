# A program a row.

import triton
import triton.language as tl


@triton.jit
def times(A, x, y, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, N, BLOCK):
        at = first + tl.arange(0, BLOCK)
        inside = at < N
        total += tl.load(A + row * N + at, mask=inside, other=0.0) * tl.load(x + at, mask=inside, other=0.0)
    tl.store(y + row, tl.sum(total, 0))


def solve(A, x, y, M, N):
    times[(M,)](A, x, y, N, BLOCK=1024)
