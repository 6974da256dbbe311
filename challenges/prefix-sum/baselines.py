"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def eager(input, output, N):
    return torch.cumsum(input, 0, out=output)
