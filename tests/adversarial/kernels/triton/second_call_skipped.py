# idea: the first call works, and later ones with the same addresses do nothing: what they shall find is there
# challenge: vector-add
# devices: emulator
# verdict: TI or WA
# caught by: each call has other inputs, and the replay starts with empty outputs

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


seen = set()


def solve(A, B, C, N):
    key = (A.data_ptr(), B.data_ptr(), C.data_ptr(), N)
    if key in seen:
        return
    seen.add(key)
    honest(A, B, C, N)
