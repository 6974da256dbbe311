"""The same task by calls of libraries (judge.packs.baselines)."""

import torch.nn.functional as F


def eager(input, output, N):
    values, gates = input.split(N // 2)
    return values * F.gelu(gates)
