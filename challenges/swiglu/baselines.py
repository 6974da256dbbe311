"""The same task by calls of libraries (judge.packs.baselines)."""

import torch.nn.functional as F


def eager(input, output, N):
    gates, values = input.split(N // 2)
    return F.silu(gates) * values
