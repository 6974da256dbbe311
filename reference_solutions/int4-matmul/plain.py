# A program has one token and 32 outputs. It unpacks the weights for that token alone.

import triton
import triton.language as tl


@triton.jit
def product(x, w_q, scales, y, N, K, group_size, TN: tl.constexpr, BYTES: tl.constexpr):
    token = tl.program_id(1)
    out = tl.program_id(0) * TN + tl.arange(0, TN)
    total = tl.zeros((TN,), tl.float32)
    for first in range(0, K // 2, BYTES):
        at = first + tl.arange(0, BYTES)
        there = (out[:, None] < N) & (at[None, :] < K // 2)
        packed = tl.load(w_q + out[:, None] * (K // 2) + at[None, :], mask=there, other=0).to(tl.int32)
        group = out[:, None] * (K // group_size)
        even = tl.load(scales + group + (2 * at[None, :]) // group_size, mask=there, other=0.0).to(tl.float32)
        odd = tl.load(scales + group + (2 * at[None, :] + 1) // group_size, mask=there, other=0.0).to(tl.float32)
        left = tl.load(x + token * K + 2 * at, mask=at < K // 2, other=0.0).to(tl.float32)
        right = tl.load(x + token * K + 2 * at + 1, mask=at < K // 2, other=0.0).to(tl.float32)
        total += tl.sum(((packed >> 4) - 8).to(tl.float32) * even * left[None, :], 1)
        total += tl.sum(((packed & 15) - 8).to(tl.float32) * odd * right[None, :], 1)
    tl.store(y + token * N + out, total.to(tl.float16), mask=out < N)


def solve(x, w_q, scales, y, M, N, K, group_size):
    product[(triton.cdiv(N, 32), M)](x, w_q, scales, y, N, K, group_size, TN=32, BYTES=64)
