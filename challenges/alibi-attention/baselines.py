"""The same task by calls of libraries (judge.packs.baselines)."""

import torch
import torch.nn.functional as F


def sdpa(Q, K, V, output, M, N, d, alpha):
    bias = (-alpha * torch.arange(N, device=Q.device, dtype=torch.float32)).expand(M, N)
    return F.scaled_dot_product_attention(Q[None, None], K[None, None], V[None, None], attn_mask=bias[None, None])
