"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def eager(input, output, N):
    return torch.softmax(input, 0)
