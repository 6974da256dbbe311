"""The same task by calls of libraries (judge.packs.baselines)."""

import torch.nn.functional as F


def cudnn(input, kernel, output, input_size, kernel_size):
    return F.conv1d(input.view(1, 1, -1), kernel.view(1, 1, -1))
