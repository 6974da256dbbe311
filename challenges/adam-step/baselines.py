"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def fused(weights, gradients, first, second, rate, beta1, beta2, eps, decay, step, N):
    steps = torch.full((), float(step), device=weights.device)
    torch._fused_adamw_(
        [weights], [gradients], [first], [second], [], [steps],
        lr=rate, beta1=beta1, beta2=beta2, weight_decay=decay, eps=eps, amsgrad=False, maximize=False,
    )  # fmt: skip
    return {"weights": weights, "first": first, "second": second}
