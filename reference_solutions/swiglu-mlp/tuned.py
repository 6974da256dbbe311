# Two launches: both projections with the gate, from the same tile of x, and the last product. Tile sizes are tuned.

import torch
import triton
import triton.language as tl

CONFIGS = [
    triton.Config({"TM": 64, "TN": 64, "TK": 16}, num_warps=8),
    triton.Config({"TM": 128, "TN": 64, "TK": 16}, num_warps=8),
    triton.Config({"TM": 64, "TN": 32, "TK": 32}, num_warps=4),
]


@triton.autotune(configs=CONFIGS, key=["M", "N", "K"])
@triton.jit
def gated(x, gate, up, out, M, N, K, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr):
    row = tl.program_id(1) * TM + tl.arange(0, TM)
    col = tl.program_id(0) * TN + tl.arange(0, TN)
    gates = tl.zeros((TM, TN), tl.float32)
    ups = tl.zeros((TM, TN), tl.float32)
    for first in range(0, K, TK):
        inner = first + tl.arange(0, TK)
        a = tl.load(x + row[:, None] * K + inner[None, :], mask=(row[:, None] < M) & (inner[None, :] < K), other=0.0)
        at = inner[:, None] * N + col[None, :]
        inside = (inner[:, None] < K) & (col[None, :] < N)
        gates += tl.dot(a, tl.load(gate + at, mask=inside, other=0.0), input_precision="ieee")
        ups += tl.dot(a, tl.load(up + at, mask=inside, other=0.0), input_precision="ieee")
    made = ups * gates / (1.0 + tl.exp(-gates))
    tl.store(out + row[:, None] * N + col[None, :], made, mask=(row[:, None] < M) & (col[None, :] < N))


@triton.autotune(configs=CONFIGS, key=["M", "N", "K"])
@triton.jit
def product(A, B, C, M, N, K, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr):
    row = tl.program_id(1) * TM + tl.arange(0, TM)
    col = tl.program_id(0) * TN + tl.arange(0, TN)
    total = tl.zeros((TM, TN), tl.float32)
    for first in range(0, K, TK):
        inner = first + tl.arange(0, TK)
        a = tl.load(A + row[:, None] * K + inner[None, :], mask=(row[:, None] < M) & (inner[None, :] < K), other=0.0)
        b = tl.load(B + inner[:, None] * N + col[None, :], mask=(inner[:, None] < K) & (col[None, :] < N), other=0.0)
        total += tl.dot(a, b, input_precision="ieee")
    tl.store(C + row[:, None] * N + col[None, :], total, mask=(row[:, None] < M) & (col[None, :] < N))


def tiles(M, N):
    return lambda meta: (triton.cdiv(N, meta["TN"]), triton.cdiv(M, meta["TM"]))


def solve(x, W_gate, W_up, W_down, output, M, d_model, d_ffn):
    made = torch.empty(M * d_ffn, dtype=torch.float32, device="cuda")
    gated[tiles(M, d_ffn)](x, W_gate, W_up, made, M, d_ffn, d_model)
    product[tiles(M, d_model)](made, W_down, output, M, d_model, d_ffn)
