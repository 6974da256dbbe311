"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def cublas(input, output, N, P):
    return torch.linalg.matrix_power(input, P)
