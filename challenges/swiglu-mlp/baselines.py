"""The same task by calls of libraries (judge.packs.baselines)."""

import torch.nn.functional as F


def cublas(x, W_gate, W_up, W_down, output, M, d_model, d_ffn):
    return (F.silu(x @ W_gate) * (x @ W_up)) @ W_down
