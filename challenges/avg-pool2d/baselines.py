"""The same task by calls of libraries (judge.packs.baselines)."""

import torch.nn.functional as F


def eager(input, output, N, C, H, W, kernel_size, stride, padding):
    return F.avg_pool2d(input, kernel_size, stride, padding)
