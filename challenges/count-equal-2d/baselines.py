"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def eager(input, output, N, M, K):
    return (input == K).sum(dtype=torch.int32)
