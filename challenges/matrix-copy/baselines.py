"""The same task by calls of libraries (judge.packs.baselines)."""


def eager(A, B, N):
    return B.copy_(A)
