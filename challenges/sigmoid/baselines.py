"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def eager(X, Y, N):
    return torch.sigmoid(X, out=Y)
