"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def eager(input, output, lo, hi, N):
    return torch.clamp(input, lo, hi, out=output)
