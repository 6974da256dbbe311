"""The same task by calls of libraries (judge.packs.baselines)."""

import torch.nn.functional as F


def cudnn(input, weights, output, batch, in_channels, out_channels, height, width):
    images = input.view(batch, in_channels, height, width)
    return F.conv2d(images, weights.view(out_channels, in_channels, 3, 3), padding=1)
