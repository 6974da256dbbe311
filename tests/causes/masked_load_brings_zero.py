# ruff: noqa: ERA001 -- the first lines tell the test what to expect
# challenge: cross-entropy
# The load of a row brings 0 where the row has ended, which is above all logits far below zero. Of the long rows Triton
# makes half a megabyte of PTX, more than one trial takes.
# verdict: WA
# mode: SUBMIT
# headline: the maximum on line 18 starts at 0 or takes it in; with float("-inf") instead, the answer is right
import triton
import triton.language as tl


@triton.jit
def rows(logits, labels, loss, N, C, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < C
    values = tl.load(logits + row * C + at, mask=inside, other=0.0)
    top = tl.max(values, 0)
    total = tl.sum(tl.where(inside, tl.exp(values - top), 0.0), 0)
    label = tl.load(labels + row)
    tl.atomic_add(loss, (tl.log(total) + top - tl.load(logits + row * C + label)) / N)


def solve(logits, true_labels, loss, N, C):
    loss.zero_()
    rows[(N,)](logits, true_labels, loss, N, C, BLOCK=triton.next_power_of_2(C))
