"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def cublaslt(A, B, bias, C, M, N, K):
    return torch._addmm_activation(bias, A, B, use_gelu=True)
