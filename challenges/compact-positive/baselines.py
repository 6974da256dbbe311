"""The same task by calls of libraries (judge.packs.baselines)."""


def eager(A, N, out):
    kept = A[A > 0]
    out[: kept.numel()] = kept
    return out
