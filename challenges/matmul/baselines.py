"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def cublas(A, B, C, M, N, K):
    return torch.matmul(A, B, out=C)
