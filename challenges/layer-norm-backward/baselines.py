"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def eager(x, weight, dy, dx, dweight, dbias, N, C, eps):
    _, mean, rstd = torch.native_layer_norm(x, (C,), weight, weight, eps)
    gradients = torch.ops.aten.native_layer_norm_backward(dy, x, (C,), mean, rstd, weight, weight, [True, True, True])
    return dict(zip(("dx", "dweight", "dbias"), gradients, strict=True))
