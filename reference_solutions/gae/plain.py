# A program has 32 rows, one for each lane of its warp, and goes through their steps from the last to the first.

import triton
import triton.language as tl


@triton.jit
def backward(rewards, values, advantages, gamma, decay, B, S, ROWS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = row < B
    first = row * S
    following = tl.zeros((ROWS,), tl.float32)
    advantage = tl.zeros((ROWS,), tl.float32)
    for back in range(0, S):
        at = first + S - 1 - back
        value = tl.load(values + at, mask=inside, other=0.0)
        delta = tl.load(rewards + at, mask=inside, other=0.0) + gamma * following - value
        advantage = delta + decay * advantage
        tl.store(advantages + at, advantage, mask=inside)
        following = value


def solve(rewards, values, advantages, gamma, lam, B, S):
    backward[(triton.cdiv(B, 32),)](rewards, values, advantages, gamma, gamma * lam, B, S, ROWS=32, num_warps=1)
