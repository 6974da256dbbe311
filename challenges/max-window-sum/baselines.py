"""The same task by calls of libraries (judge.packs.baselines)."""

import torch
import torch.nn.functional as F


def eager(input, output, N, window_size):
    sums = F.pad(torch.cumsum(input, 0), (1, 0))
    return (sums[window_size:] - sums[: N + 1 - window_size]).max().int()
