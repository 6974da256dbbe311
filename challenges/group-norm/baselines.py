"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def eager(X, gamma, beta, Y, N, C, H, W, G, eps):
    return torch.group_norm(X.view(N, C, H, W), G, gamma, beta, eps)
