"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def eager(input, output, N, k):
    return torch.topk(input, k).values
