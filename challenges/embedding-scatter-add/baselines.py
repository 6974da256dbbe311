"""The same task by calls of libraries (judge.packs.baselines)."""


def eager(gradients, tokens, table, T, V, D):
    return table.index_add_(0, tokens, gradients)
