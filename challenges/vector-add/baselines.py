"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def eager(A, B, C, N):
    return torch.add(A, B, out=C)
