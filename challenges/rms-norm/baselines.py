"""The same task by calls of libraries (judge.packs.baselines)."""

import torch.nn.functional as F


def eager(input, gamma, beta, output, N, eps):
    return F.rms_norm(input, (N,), eps=eps) * gamma + beta
