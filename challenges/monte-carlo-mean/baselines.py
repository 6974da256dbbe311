"""The same task by calls of libraries (judge.packs.baselines)."""


def eager(y_samples, result, a, b, n_samples):
    return y_samples.mean() * (b - a)
