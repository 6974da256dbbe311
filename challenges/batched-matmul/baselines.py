"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def cublas(A, B, C, BATCH, M, N, K):
    torch.bmm(A.view(BATCH, M, K), B.view(BATCH, K, N), out=C.view(BATCH, M, N))
    return C
