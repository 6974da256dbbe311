"""The same task by calls of libraries (judge.packs.baselines)."""

import torch.nn.functional as F


def eager(predictions, targets, mse, N):
    return F.mse_loss(predictions, targets)
