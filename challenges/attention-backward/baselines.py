"""The same task by calls of libraries (judge.packs.baselines)."""

import torch
import torch.nn.functional as F


def sdpa(Q, K, V, dO, dQ, dK, dV, M, N, d):
    with torch.enable_grad():
        inputs = [array[None, None].detach().requires_grad_() for array in (Q, K, V)]
        gradients = torch.autograd.grad(F.scaled_dot_product_attention(*inputs), inputs, dO[None, None])
    return dict(zip(("dQ", "dK", "dV"), gradients, strict=True))
