"""The same task by calls of libraries (judge.packs.baselines)."""

import torch.nn.functional as F


def eager(input, output, C, H, W, kernel_size, stride, padding):
    return F.unfold(input[None], kernel_size, padding=padding, stride=stride)
