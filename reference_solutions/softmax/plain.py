# Each program finds the maximum and the sum of its 4096 elements; one combines them; a last launch scales.

import torch
import triton
import triton.language as tl


@triton.jit
def largest(x, found, N, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < N, other=float("-inf"))
    top = tl.max(value, 0)
    tl.store(found + 2 * tl.program_id(0), top)
    tl.store(found + 2 * tl.program_id(0) + 1, tl.sum(tl.exp(value - top), 0))


@triton.jit
def combine(found, whole, COUNT, BLOCK: tl.constexpr):
    top = tl.full((BLOCK,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, COUNT, BLOCK):
        at = first + tl.arange(0, BLOCK)
        inside = at < COUNT
        other = tl.load(found + 2 * at, mask=inside, other=float("-inf"))
        size = tl.load(found + 2 * at + 1, mask=inside, other=0.0)
        higher = tl.maximum(top, other)
        total = tl.where(top == higher, total, total * tl.exp(top - higher)) + tl.where(
            inside, size * tl.exp(other - higher), 0.0
        )
        top = higher
    most = tl.max(top, 0)
    tl.store(whole, most)
    tl.store(whole + 1, tl.sum(tl.where(total > 0, total * tl.exp(top - most), 0.0), 0))


@triton.jit
def scale(x, whole, y, N, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < N
    top, total = tl.load(whole), tl.load(whole + 1)
    tl.store(y + at, tl.exp(tl.load(x + at, mask=inside) - top) / total, mask=inside)


def solve(input, output, N):
    block = 4096
    count = triton.cdiv(N, block)
    found = torch.empty(2 * count, dtype=torch.float32, device="cuda")
    whole = torch.empty(2, dtype=torch.float32, device="cuda")
    largest[(count,)](input, found, N, BLOCK=block)
    combine[(1,)](found, whole, count, BLOCK=1024)
    scale[(count,)](input, whole, output, N, BLOCK=block)
