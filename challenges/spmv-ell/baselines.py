"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def eager(columns, values, x, y, M, N, width):
    return torch.where(columns < 0, 0, values * x[columns.clamp(min=0)]).sum(dim=0)
