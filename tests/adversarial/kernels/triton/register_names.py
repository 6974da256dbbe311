# idea: in the build two kernels get one name, so that the fewer registers of one count for the other
# challenge: vector-add
# devices: emulator
# verdict: CE or RE
# caught by: names of kernels are told apart, and of a name the most registers count

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
        kernel["ptx"] = kernel["ptx"].replace(f".entry {kernel['name']}(", ".entry add(")
        kernel["name"] = "add"
    return real(answer, *rest, **more)


json.dump = dump


def solve(A, B, C, N):
    honest(A, B, C, N)
