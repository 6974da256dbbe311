# idea: in the build the list of autotuned kernels is replaced by thousands of false ones
# challenge: vector-add
# devices: emulator
# verdict: AC or CE or RE or WA
# caught by: the list is read with limits, and only chooses among the submission's own kernels

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
    if isinstance(answer, dict) and "tuned" in answer:
        configs = [{"told": "x" * 70000, "kernels": ["nothing"] * 200, "problem": ""} for _ in range(300)]
        answer["tuned"] = [{"place": f"add:{line}", "configs": configs} for line in range(150)]
        answer["tuned"][0]["configs"] = []
    return real(answer, *rest, **more)


json.dump = dump


def solve(A, B, C, N):
    honest(A, B, C, N)
