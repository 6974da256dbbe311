"""The same task by calls of libraries (judge.packs.baselines)."""

import torch
import torch.nn.functional as F


def cublas(A, B, bias, C, M, N, K):
    return F.gelu(torch.addmm(bias, A, B))
