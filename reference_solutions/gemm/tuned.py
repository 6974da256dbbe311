# Tiles of 128 x 128 in a pipeline of three stages, with eight warps.

import triton
import triton.language as tl


@triton.jit
def product(A, B, C, M, N, K, alpha, beta, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr):
    row = tl.program_id(1) * TM + tl.arange(0, TM)
    col = tl.program_id(0) * TN + tl.arange(0, TN)
    total = tl.zeros((TM, TN), tl.float32)
    for first in range(0, K, TK):
        inner = first + tl.arange(0, TK)
        a = tl.load(A + row[:, None] * K + inner[None, :], mask=(row[:, None] < M) & (inner[None, :] < K), other=0.0)
        b = tl.load(B + inner[:, None] * N + col[None, :], mask=(inner[:, None] < K) & (col[None, :] < N), other=0.0)
        total = tl.dot(a, b, total)
    inside = (row[:, None] < M) & (col[None, :] < N)
    old = tl.load(C + row[:, None] * N + col[None, :], mask=inside, other=0.0).to(tl.float32)
    tl.store(C + row[:, None] * N + col[None, :], (alpha * total + beta * old).to(tl.float16), mask=inside)


def solve(A, B, C, M, N, K, alpha, beta):
    programs = (triton.cdiv(N, 128), triton.cdiv(M, 128))
    product[programs](A, B, C, M, N, K, alpha, beta, TM=128, TN=128, TK=32, num_warps=8, num_stages=3)
