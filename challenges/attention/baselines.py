"""The same task by calls of libraries (judge.packs.baselines)."""

import torch.nn.functional as F


def sdpa(Q, K, V, output, M, N, d):
    return F.scaled_dot_product_attention(Q[None, None], K[None, None], V[None, None])
