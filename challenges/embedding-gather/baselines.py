"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def eager(ids, table, output, N, V, D):
    return torch.index_select(table, 0, ids, out=output)
