"""The same task by calls of libraries (judge.packs.baselines)."""

import torch.nn.functional as F


def eager(x, residual, weight, out, N, C, eps):
    return F.rms_norm(x + residual, (C,), weight, eps)
