"""The same task by calls of libraries (judge.packs.baselines)."""

import torch.nn.functional as F


def sdpa(Q, K, V, output, N, d_model, h):
    q, k, v = (array.view(N, h, d_model // h).transpose(0, 1)[None] for array in (Q, K, V))
    return F.scaled_dot_product_attention(q, k, v)[0].transpose(0, 1)
