# idea: inline PTX of a newer architecture, which counts as nothing
# challenge: vector-add
# devices: emulator
# verdict: CE or RE
# caught by: ptxas refuses what the architecture lacks

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


@triton.jit
def newer(C, N, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.inline_asm_elementwise("setmaxnreg.inc.sync.aligned.u32 240; mov.b32 $0, $1;", "=r,r", [at], tl.int32, True, 1)
    tl.store(C + at, value.to(tl.float32), mask=at < N)


def solve(A, B, C, N):
    newer[(1,)](C, N, BLOCK=128)
