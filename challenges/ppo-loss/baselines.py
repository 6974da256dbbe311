"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def eager(advantages, log_pi, log_pi_old, output, clip_eps, B, S):
    ratios = (log_pi - log_pi_old).exp()
    clipped = ratios.clamp(1 - clip_eps, 1 + clip_eps)
    return -torch.minimum(ratios * advantages, clipped * advantages).mean()
