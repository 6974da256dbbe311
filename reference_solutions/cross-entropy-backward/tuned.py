# A program a row, which stays in registers up to 16,384 logits. Longer rows are read twice, the first time with a
# running maximum and sum.

import triton
import triton.language as tl


@triton.jit
def short_row(logits, labels, losses, dlogits, N, C, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    first = row.to(tl.int64) * C
    label = tl.load(labels + row)
    at = tl.arange(0, BLOCK)
    value = tl.load(logits + first + at, mask=at < C, other=float("-inf"))
    most = tl.max(value, 0)
    weight = tl.exp(value - most)
    whole = tl.sum(weight, 0)
    right = tl.where(at == label, 1.0, 0.0)
    tl.store(dlogits + first + at, (weight / whole - right) / N, mask=at < C)
    tl.store(losses + row, most + tl.log(whole) - tl.load(logits + first + label))


@triton.jit
def long_row(logits, labels, losses, dlogits, N, C, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    first = row.to(tl.int64) * C
    label = tl.load(labels + row)
    top = tl.full((BLOCK,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for begin in range(0, C, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        value = tl.load(logits + first + at, mask=at < C, other=float("-inf"))
        higher = tl.maximum(top, value)
        total = tl.where(higher == float("-inf"), 0.0, total * tl.exp(top - higher) + tl.exp(value - higher))
        top = higher
    most = tl.max(top, 0)
    whole = tl.sum(total * tl.exp(top - most), 0)
    for begin in range(0, C, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        value = tl.load(logits + first + at, mask=at < C, other=float("-inf"))
        right = tl.where(at == label, 1.0, 0.0)
        tl.store(dlogits + first + at, (tl.exp(value - most) / whole - right) / N, mask=at < C)
    tl.store(losses + row, most + tl.log(whole) - tl.load(logits + first + label))


def solve(logits, labels, losses, dlogits, N, C):
    if C <= 16_384:
        block = triton.next_power_of_2(C)
        warps = 16 if block > 4096 else 8 if block > 1024 else 4
        short_row[(N,)](logits, labels, losses, dlogits, N, C, BLOCK=block, num_warps=warps)
    else:
        long_row[(N,)](logits, labels, losses, dlogits, N, C, BLOCK=8192, num_warps=16)
