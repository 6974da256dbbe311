# Three products in tiles of 16 x 16, and the gate between them, each in a launch of its own.

import torch
import triton
import triton.language as tl


@triton.jit
def product(A, B, C, M, N, K, TILE: tl.constexpr):
    row = tl.program_id(1) * TILE + tl.arange(0, TILE)
    col = tl.program_id(0) * TILE + tl.arange(0, TILE)
    total = tl.zeros((TILE, TILE), tl.float32)
    for first in range(0, K, TILE):
        inner = first + tl.arange(0, TILE)
        a = tl.load(A + row[:, None] * K + inner[None, :], mask=(row[:, None] < M) & (inner[None, :] < K), other=0.0)
        b = tl.load(B + inner[:, None] * N + col[None, :], mask=(inner[:, None] < K) & (col[None, :] < N), other=0.0)
        total += tl.dot(a, b, input_precision="ieee")
    tl.store(C + row[:, None] * N + col[None, :], total, mask=(row[:, None] < M) & (col[None, :] < N))


@triton.jit
def gate(gates, ups, count, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    value = tl.load(gates + at, mask=inside)
    tl.store(ups + at, tl.load(ups + at, mask=inside) * value / (1.0 + tl.exp(-value)), mask=inside)


def times(A, B, C, M, N, K):
    product[(triton.cdiv(N, 16), triton.cdiv(M, 16))](A, B, C, M, N, K, TILE=16)


def solve(x, W_gate, W_up, W_down, output, M, d_model, d_ffn):
    gates = torch.empty(M * d_ffn, dtype=torch.float32, device="cuda")
    ups = torch.empty(M * d_ffn, dtype=torch.float32, device="cuda")
    times(x, W_gate, gates, M, d_ffn, d_model)
    times(x, W_up, ups, M, d_ffn, d_model)
    gate[(triton.cdiv(M * d_ffn, 1024),)](gates, ups, M * d_ffn, BLOCK=1024)
    times(ups, W_down, output, M, d_model, d_ffn)
