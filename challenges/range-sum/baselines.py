"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def eager(input, output, N, S, E):
    return input[S : E + 1].sum(dtype=torch.int32)
