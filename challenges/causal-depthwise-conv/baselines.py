"""The same task by calls of libraries (judge.packs.baselines)."""

import torch.nn.functional as F


def eager(x, weight, bias, output, B, L, D, K):
    padded = F.pad(x.view(B, L, D).mT, (K - 1, 0))
    return F.conv1d(padded, weight.flip(1)[:, None], bias, groups=D).mT
