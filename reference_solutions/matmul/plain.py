# Tiles of 32 x 32 in single precision: tf32, the default of tl.dot, is not exact enough here.

import triton
import triton.language as tl


@triton.jit
def product(A, B, C, M, N, K, TILE: tl.constexpr):
    row = tl.program_id(1) * TILE + tl.arange(0, TILE)
    col = tl.program_id(0) * TILE + tl.arange(0, TILE)
    total = tl.zeros((TILE, TILE), tl.float32)
    for first in range(0, N, TILE):
        inner = first + tl.arange(0, TILE)
        a = tl.load(A + row[:, None] * N + inner[None, :], mask=(row[:, None] < M) & (inner[None, :] < N), other=0.0)
        b = tl.load(B + inner[:, None] * K + col[None, :], mask=(inner[:, None] < N) & (col[None, :] < K), other=0.0)
        total += tl.dot(a, b, input_precision="ieee")
    tl.store(C + row[:, None] * K + col[None, :], total, mask=(row[:, None] < M) & (col[None, :] < K))


def solve(A, B, C, M, N, K):
    product[(triton.cdiv(K, 32), triton.cdiv(M, 32))](A, B, C, M, N, K, TILE=32)
