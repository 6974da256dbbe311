"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def cublaslt(A, B, bias, C, M, N, K):
    if N % 8 or K % 8:
        raise ValueError("PyTorch calls cuBLASLt for rows of 16 bytes, and rounds the product on its other path")
    return torch._addmm_activation(bias, A, B, use_gelu=True)
