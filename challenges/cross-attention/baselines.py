"""The same task by calls of libraries (judge.packs.baselines)."""

import torch.nn.functional as F


def sdpa(Q, K, V, output, M, N, H, D):
    q, k, v = (array.view(-1, H, D).transpose(0, 1)[None] for array in (Q, K, V))
    return F.scaled_dot_product_attention(q, k, v)[0].transpose(0, 1)
