# Flash attention: a program has 64 queries of a head and shares the keys among them. Heads wider than 128 take one
# query a program.

import triton
import triton.language as tl


@triton.jit
def attend(Q, K, V, output, N, width, d, scale, TM: tl.constexpr, TN: tl.constexpr, D: tl.constexpr):
    row = tl.program_id(0) * TM + tl.arange(0, TM)
    column = tl.arange(0, D)
    head = tl.program_id(1) * d + column
    inside = (row[:, None] < N) & (column[None, :] < d)
    q = tl.load(Q + row[:, None] * width + head[None, :], mask=inside, other=0.0) * scale
    top = tl.full((TM,), float("-inf"), tl.float32)
    total = tl.zeros((TM,), tl.float32)
    mixed = tl.zeros((TM, D), tl.float32)
    for first in range(0, N, TN):
        key = first + tl.arange(0, TN)
        at = key[:, None] * width + head[None, :]
        there = (key[:, None] < N) & (column[None, :] < d)
        score = tl.dot(q, tl.trans(tl.load(K + at, mask=there, other=0.0)), input_precision="ieee")
        score = tl.where(key[None, :] < N, score, float("-inf"))
        higher = tl.maximum(top, tl.max(score, 1))
        weight = tl.exp(score - higher[:, None])
        kept = tl.exp(top - higher)
        total = total * kept + tl.sum(weight, 1)
        value = tl.load(V + at, mask=there, other=0.0)
        mixed = mixed * kept[:, None] + tl.dot(weight, value, input_precision="ieee")
        top = higher
    tl.store(output + row[:, None] * width + head[None, :], mixed / total[:, None], mask=inside)


@triton.jit
def attend_wide(Q, K, V, output, N, width, d, scale, TN: tl.constexpr, D: tl.constexpr):
    query = tl.program_id(0)
    column = tl.arange(0, D)
    head = tl.program_id(1) * d + column
    q = tl.load(Q + query * width + head, mask=column < d, other=0.0) * scale
    top = float("-inf")
    total = 0.0
    mixed = tl.zeros((D,), tl.float32)
    for first in range(0, N, TN):
        key = first + tl.arange(0, TN)
        at = key[:, None] * width + head[None, :]
        there = (key[:, None] < N) & (column[None, :] < d)
        score = tl.sum(tl.load(K + at, mask=there, other=0.0) * q[None, :], 1)
        score = tl.where(key < N, score, float("-inf"))
        higher = tl.maximum(top, tl.max(score, 0))
        weight = tl.exp(score - higher)
        kept = tl.exp(top - higher)
        total = total * kept + tl.sum(weight, 0)
        mixed = mixed * kept + tl.sum(tl.load(V + at, mask=there, other=0.0) * weight[:, None], 0)
        top = higher
    tl.store(output + query * width + head, mixed / total, mask=column < d)


def solve(Q, K, V, output, N, d_model, h):
    d = d_model // h
    padded = max(16, triton.next_power_of_2(d))
    if padded <= 128:
        programs = (triton.cdiv(N, 64), h)
        attend[programs](Q, K, V, output, N, d_model, d, d**-0.5, TM=64, TN=32, D=padded, num_warps=8)
    else:
        attend_wide[(N, h)](Q, K, V, output, N, d_model, d, d**-0.5, TN=16, D=padded, num_warps=8)
