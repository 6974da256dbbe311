"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def eager(A, B, output, N):
    torch.stack((A, B), dim=1, out=output.view(N, 2))
    return output
