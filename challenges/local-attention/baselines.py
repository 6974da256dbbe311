"""The same task by calls of libraries (judge.packs.baselines)."""

import torch
import torch.nn.functional as F


def sdpa(Q, K, V, output, M, d, window_size):
    seen = torch.ones(M, M, dtype=torch.bool, device=Q.device).tril(window_size).triu(-window_size)
    return F.scaled_dot_product_attention(Q[None, None], K[None, None], V[None, None], attn_mask=seen)
