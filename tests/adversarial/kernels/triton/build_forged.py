# idea: in the build the compiler's result is replaced: half of the warps, so that less seems to run
# challenge: vector-add
# devices: emulator
# verdict: RE or WA or TI or CE
# caught by: a kernel's PTX says how many threads a block has, and fewer do less of the work

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


import json

real = json.dump


def dump(answer, *rest, **more):
    for kernel in answer.get("kernels", ()) if isinstance(answer, dict) else ():
        kernel["warps"] = 1
    return real(answer, *rest, **more)


json.dump = dump


def solve(A, B, C, N):
    honest(A, B, C, N)
