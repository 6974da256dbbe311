"""The same task by calls of libraries (judge.packs.baselines)."""

import torch.nn.functional as F


def eager(input, weight, bias, output, N, C, eps):
    return F.layer_norm(input, (C,), weight, bias, eps)
