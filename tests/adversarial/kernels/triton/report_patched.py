# idea: the runner's report of what was executed is replaced by one that says nothing was
# challenge: vector-add
# devices: emulator
# verdict: AC or TI or WA or SV
# caught by: times come from the replay, in a process without the submission

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


import sys


def solve(A, B, C, N):
    module = sys.modules.get("judge.runner.emulator")
    if module is not None:
        module._profile = lambda group: None
        module.group_launches = lambda launches, most: []
    honest(A, B, C, N)
