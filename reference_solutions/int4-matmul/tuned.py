# Tiles of 64 x 64 on the tensor cores: the nibbles of a byte become neighboring halves, once for 64 tokens.

import triton
import triton.language as tl


@triton.jit
def product(x, w_q, scales, y, M, N, K, group_size, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr):
    row = tl.program_id(1) * TM + tl.arange(0, TM)
    out = tl.program_id(0) * TN + tl.arange(0, TN)
    total = tl.zeros((TM, TN), tl.float32)
    for first in range(0, K, TK):
        inner = first + tl.arange(0, TK)
        a = tl.load(x + row[:, None] * K + inner[None, :], mask=(row[:, None] < M) & (inner[None, :] < K), other=0.0)
        at = first // 2 + tl.arange(0, TK // 2)
        there = (out[:, None] < N) & (at[None, :] < K // 2)
        packed = tl.load(w_q + out[:, None] * (K // 2) + at[None, :], mask=there, other=0)
        nibbles = tl.join(packed >> 4, packed & 15).reshape(TN, TK)
        group = out[:, None] * (K // group_size) + inner[None, :] // group_size
        scale = tl.load(scales + group, mask=(out[:, None] < N) & (inner[None, :] < K), other=0.0)
        weight = (nibbles.to(tl.float16) - 8.0).to(tl.float16) * scale
        total = tl.dot(a, tl.trans(weight), total)
    tl.store(y + row[:, None] * N + out[None, :], total.to(tl.float16), mask=(row[:, None] < M) & (out[None, :] < N))


def solve(x, w_q, scales, y, M, N, K, group_size):
    programs = (triton.cdiv(N, 64), triton.cdiv(M, 64))
    product[programs](x, w_q, scales, y, M, N, K, group_size, TM=64, TN=64, TK=64)
