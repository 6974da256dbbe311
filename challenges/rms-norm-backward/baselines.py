"""The same task by calls of libraries (judge.packs.baselines)."""

import torch
import torch.nn.functional as F


def eager(x, weight, dy, dx, dweight, N, C, eps):
    with torch.enable_grad():
        x, weight = x.detach().requires_grad_(), weight.detach().requires_grad_()
        y = F.rms_norm(x, (C,), weight, eps)
        dx, dweight = torch.autograd.grad(y, (x, weight), dy)
    return {"dx": dx, "dweight": dweight}
