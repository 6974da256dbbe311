"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def cublas(input, weight, bias, output, batch, in_features, out_features):
    return torch.addmm(bias, input, weight.t(), out=output)
