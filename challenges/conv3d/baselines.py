"""The same task by calls of libraries (judge.packs.baselines)."""

import torch.nn.functional as F


def cudnn(input, kernel, output, input_depth, input_rows, input_cols, kernel_depth, kernel_rows, kernel_cols):
    return F.conv3d(input[None, None], kernel[None, None])
