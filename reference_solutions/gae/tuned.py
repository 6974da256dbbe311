# A program a row: blocks of 2048 steps from the last to the first, each scanned at once.

import triton
import triton.language as tl


@triton.jit
def link(factor, later, own_factor, own):
    return factor * own_factor, own + own_factor * later


@triton.jit
def backward(rewards, values, advantages, gamma, decay, S, BLOCK: tl.constexpr):
    first = tl.program_id(0) * S
    carried = 0.0
    for back in range(0, tl.cdiv(S, BLOCK)):
        begin = (tl.cdiv(S, BLOCK) - 1 - back) * BLOCK
        step = begin + tl.arange(0, BLOCK)
        inside = step < S
        value = tl.load(values + first + step, mask=inside, other=0.0)
        following = tl.load(values + first + step + 1, mask=step + 1 < S, other=0.0)
        delta = tl.load(rewards + first + step, mask=inside, other=0.0) + gamma * following - value
        factor = tl.full((BLOCK,), 1.0, tl.float32) * decay
        factors, sums = tl.associative_scan((factor, delta), 0, link, reverse=True)
        advantage = sums + factors * carried
        tl.store(advantages + first + step, advantage, mask=inside)
        carried = tl.sum(tl.where(step == begin, advantage, 0.0), 0)


def solve(rewards, values, advantages, gamma, lam, B, S):
    backward[(B,)](rewards, values, advantages, gamma, gamma * lam, S, BLOCK=2048, num_warps=8)
