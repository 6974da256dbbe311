"""The same task by calls of libraries (judge.packs.baselines)."""

import torch.nn.functional as F


def eager(chosen_logps, rejected_logps, chosen_ref_logps, rejected_ref_logps, output, beta, B):
    margins = (chosen_logps - rejected_logps) - (chosen_ref_logps - rejected_ref_logps)
    return F.softplus(-beta * margins).mean()
