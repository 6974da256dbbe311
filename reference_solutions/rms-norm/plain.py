# One launch adds up the squares, a second one scales.

import torch
import triton
import triton.language as tl


@triton.jit
def squares(x, total, N, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < N, other=0.0)
    tl.atomic_add(total, tl.sum(value * value, 0))


@triton.jit
def scale(x, total, y, gamma, beta, N, eps, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < N
    factor = gamma / tl.sqrt(tl.load(total) / N + eps)
    tl.store(y + at, tl.load(x + at, mask=inside) * factor + beta, mask=inside)


def solve(input, gamma, beta, output, N, eps):
    total = torch.zeros(1, dtype=torch.float32, device="cuda")
    programs = (triton.cdiv(N, 4096),)
    squares[programs](input, total, N, BLOCK=4096)
    scale[programs](input, total, output, gamma, beta, N, eps, BLOCK=4096)
