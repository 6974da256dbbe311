# idea: the expected outputs are sought among all objects of the process
# challenge: vector-add
# devices: emulator
# verdict: AC
# caught by: expected outputs never enter the jail

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


import gc


def solve(A, B, C, N):
    words = ("expected", "reference", "answers")
    for each in gc.get_objects():
        if isinstance(each, dict):
            for name in list(each):
                if isinstance(name, str) and name in words and hasattr(each[name], "tobytes"):
                    raise SystemExit(f"found {name}")
    honest(A, B, C, N)
