"""The same task by calls of libraries (judge.packs.baselines)."""

import torch.nn.functional as F


def eager(input, weights, output, C, H, W, K):
    return F.conv2d(input[None], weights[:, None], padding=K // 2, groups=C)
