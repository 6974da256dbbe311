"""The same task by calls of libraries (judge.packs.baselines)."""

import torch.nn.functional as F


def eager(logits, true_labels, loss, N, C):
    return F.cross_entropy(logits, true_labels.long())
