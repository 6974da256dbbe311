# idea: the trusted side's modules are imported: the pack, its reference, the seeds
# challenge: vector-add
# devices: emulator
# verdict: RE
# caught by: the jail shows the runner and the wire only

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


def solve(A, B, C, N):
    import judge.packs.data.inputs

    honest(A, B, C, N)
