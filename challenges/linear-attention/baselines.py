"""The same task by calls of libraries (judge.packs.baselines)."""

import torch.nn.functional as F


def cublas(Q, K, V, output, M, d):
    queries, keys = F.elu(Q) + 1, F.elu(K) + 1
    state = keys.t() @ V
    return (queries @ state) / (queries @ keys.sum(dim=0))[:, None]
