# idea: a kernel whose name is megabytes long, with quotes and lines in it
# challenge: vector-add
# devices: emulator
# verdict: CE or RE or AC
# caught by: keys and names are read with limits

import triton
import triton.language as tl


@triton.jit
def add(A, B, C, N, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < N
    total = tl.load(A + at, mask=inside) + tl.load(B + at, mask=inside)
    tl.store(C + at, total, mask=inside)


def honest(A, B, C, N):
    add[(triton.cdiv(N, 1024),)](A, B, C, N, BLOCK=1024)


add.fn.__qualname__ = "add\n\x1b[31m'\"" * 1_000_000


def solve(A, B, C, N):
    honest(A, B, C, N)
