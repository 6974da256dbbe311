# idea: inline PTX that closes the kernel and adds an entry and a directive of its own
# challenge: vector-add
# devices: emulator
# verdict: CE or RE or WA or AC
# caught by: PTX is the submission's own: it is judged by what it does, and registers are ptxas's

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
def out(A, B, C, N, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < N
    total = tl.load(A + at, mask=inside) + tl.load(B + at, mask=inside)
    asm: tl.constexpr = "mov.f32 $0, $1; ret; } .visible .entry add_3() .maxntid 1 { .reg .b32 %r<2>; ret;"
    total = tl.inline_asm_elementwise(asm, "=f,f", [total], dtype=tl.float32, is_pure=False, pack=1)
    tl.store(C + at, total, mask=inside)


def solve(A, B, C, N):
    out[(triton.cdiv(N, 1024),)](A, B, C, N, BLOCK=1024)
