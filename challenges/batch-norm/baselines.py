"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def eager(input, gamma, beta, output, N, C, eps):
    return torch.native_batch_norm(input, gamma, beta, None, None, True, 0.0, eps)[0]
