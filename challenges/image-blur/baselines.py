"""The same task by calls of libraries (judge.packs.baselines)."""

import torch.nn.functional as F


def cudnn(input, kernel, output, input_rows, input_cols, kernel_rows, kernel_cols):
    down, right = kernel_rows // 2, kernel_cols // 2
    padded = F.pad(input[None, None], (right, kernel_cols - 1 - right, down, kernel_rows - 1 - down))
    return F.conv2d(padded, kernel[None, None])
