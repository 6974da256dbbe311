# ruff: noqa: ERA001 -- the first lines tell the test what to expect
# challenge: mse
# verdict: WA
# mode: SUBMIT
# told: race on global memory at kernel.py:16
import triton
import triton.language as tl


@triton.jit
def add_up(a, b, result, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    off = tl.load(a + at, mask=inside, other=0.0) - tl.load(b + at, mask=inside, other=0.0)
    # Programs that run at the same time lose each other's sums; tl.atomic_add keeps them.
    tl.store(result, tl.load(result) + tl.sum(off * off) / n)


def solve(predictions, targets, mse, N):
    add_up[(triton.cdiv(N, 1024),)](predictions, targets, mse, N, BLOCK=1024)
