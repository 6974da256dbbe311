"""The same task by calls of libraries (judge.packs.baselines)."""

import torch.nn.functional as F


def cudnn(input, kernel, output, input_rows, input_cols, kernel_rows, kernel_cols):
    return F.conv2d(input[None, None], kernel[None, None])
