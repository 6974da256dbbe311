"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def cublas(x, w_q, scales, y, M, N, K, group_size):
    codes = torch.stack((w_q >> 4, w_q & 15), dim=2).view(N, K // group_size, group_size)
    weights = (codes.half() - 8) * scales[..., None]
    return x @ weights.view(N, K).t()
