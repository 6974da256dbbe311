"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def cublas(x, weights, offsets, y, num_tokens, num_experts, d_in, d_out):
    ends = offsets.tolist()
    for expert, matrix in enumerate(weights.view(num_experts, d_in, d_out)):
        tokens = slice(ends[expert], ends[expert + 1])
        torch.mm(x[tokens], matrix, out=y[tokens])
    return y
