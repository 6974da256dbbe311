"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def eager(input, histogram, N, num_bins):
    return torch.bincount(input, minlength=num_bins).int()
