# A program a token: it finds the largest logit left, k times, and notes its exponential beside the others.

import triton
import triton.language as tl


@triton.jit
def gate(logits, weights, indices, E, k, EXPERTS: tl.constexpr, CHOSEN: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    expert = tl.arange(0, EXPERTS)
    left = tl.load(logits + token * E + expert, mask=expert < E, other=float("-inf"))
    largest = tl.max(left, 0)
    place = tl.arange(0, CHOSEN)
    exponentials = tl.zeros((CHOSEN,), tl.float32)
    for t in range(k):
        top, which = tl.max(left, 0, return_indices=True)
        exponentials = tl.where(place == t, tl.exp(top - largest), exponentials)
        tl.store(indices + token * k + t, which)
        left = tl.where(expert == which, float("-inf"), left)
    tl.store(weights + token * k + place, exponentials / tl.sum(exponentials, 0), mask=place < k)


def solve(logits, topk_weights, topk_indices, M, E, k):
    sizes = {"EXPERTS": triton.next_power_of_2(E), "CHOSEN": triton.next_power_of_2(k)}
    gate[(M,)](logits, topk_weights, topk_indices, E, k, num_warps=1, **sizes)
