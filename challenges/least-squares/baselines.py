"""The same task by calls of libraries (judge.packs.baselines)."""

import torch


def cusolver(X, y, beta, n_samples, n_features):
    right = X.t() @ y[:, None]
    return torch.cholesky_solve(right, torch.linalg.cholesky(X.t() @ X))
