# Each program scans its block; the sums of the blocks are scanned by one program, and added in a last launch.

import torch
import triton
import triton.language as tl


@triton.jit
def scan_blocks(x, y, sums, N, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < N, other=0.0)
    tl.store(y + at, tl.cumsum(value, 0), mask=at < N)
    tl.store(sums + tl.program_id(0), tl.sum(value, 0))


@triton.jit
def scan_sums(sums, COUNT, BLOCK: tl.constexpr):
    before = 0.0
    for first in range(0, COUNT, BLOCK):
        at = first + tl.arange(0, BLOCK)
        value = tl.load(sums + at, mask=at < COUNT, other=0.0)
        tl.store(sums + at, before + tl.cumsum(value, 0) - value, mask=at < COUNT)
        before += tl.sum(value, 0)


@triton.jit
def add_before(y, sums, N, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < N
    tl.store(y + at, tl.load(y + at, mask=inside) + tl.load(sums + tl.program_id(0)), mask=inside)


def solve(input, output, N):
    count = triton.cdiv(N, 2048)
    sums = torch.empty(count, dtype=torch.float32, device="cuda")
    scan_blocks[(count,)](input, output, sums, N, BLOCK=2048)
    scan_sums[(1,)](sums, count, BLOCK=1024)
    add_before[(count,)](output, sums, N, BLOCK=2048)
