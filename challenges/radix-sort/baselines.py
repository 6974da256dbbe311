"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def cub(input, output, N):
    import cupy

    return cupy.sort(cupy.asarray(input.view(torch.int32)).view(cupy.uint32))
