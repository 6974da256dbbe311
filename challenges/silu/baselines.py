"""The same task by calls of libraries (judge.packs.baselines)."""

import torch.nn.functional as F


def eager(input, output, N):
    return F.silu(input)
