"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def eager(input, index, N):
    return torch.argmax(input).int()
