"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def eager(input, output, N):
    return torch.clamp_min(input, 0.0, out=output)
