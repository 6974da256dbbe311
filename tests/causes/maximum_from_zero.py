# ruff: noqa: ERA001 -- the first lines tell the test what to expect
# challenge: softmax
# verdict: WA
# mode: SUBMIT
# headline: the maximum on line 18 starts at 0 or takes it in; with float("-inf") instead, the answer is right
# told: output[0] is
import triton
import triton.language as tl


@triton.jit
def softmax(x, y, N, BLOCK: tl.constexpr):
    top, total = 0.0, 0.0
    for first in range(0, N, BLOCK):
        at = first + tl.arange(0, BLOCK)
        # What the mask leaves out brings 0.
        value = tl.load(x + at, mask=at < N, other=0.0)
        top = tl.maximum(top, tl.max(value, 0))
    for first in range(0, N, BLOCK):
        at = first + tl.arange(0, BLOCK)
        value = tl.load(x + at, mask=at < N, other=float("-inf"))
        total += tl.sum(tl.exp(value - top), 0)
    for first in range(0, N, BLOCK):
        at = first + tl.arange(0, BLOCK)
        value = tl.load(x + at, mask=at < N)
        tl.store(y + at, tl.exp(value - top) / total, mask=at < N)


def solve(input, output, N):
    softmax[(1,)](input, output, N, BLOCK=1024)
