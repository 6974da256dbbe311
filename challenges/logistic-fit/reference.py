"""Logistic regression in NumPy, in float64, by Newton's method."""

import numpy as np

#: A small ridge, which matters only where the data would let the coefficients grow without bound.
_RIDGE = 1e-6
_STEPS = 30


def make_inputs(rng, n_samples, n_features, strength):
    X = rng.standard_normal((n_samples, n_features), np.float32)
    beta = rng.standard_normal(n_features) * (strength / np.sqrt(n_features))
    odds = np.exp(-(X @ beta.astype(np.float32)))
    y = (rng.random(n_samples) * (1 + odds) < 1).astype(np.float32)
    # Some answers are turned round, at both ends of every feature, so that no coefficients separate all samples.
    turned = rng.random(n_samples) < 0.05
    y[turned] = 1 - y[turned]
    # Four samples that no coefficients explain, whatever the others are.
    X[:4] = np.abs(X[0]) + np.float32(0.5)
    X[1], X[3] = -X[1], -X[3]
    y[:4] = [1, 1, 0, 0]
    return {"X": X, "y": y}


def reference(X, y, n_samples, n_features, beta=None):
    X, y = X.astype(np.float64), y.astype(np.float64)
    beta = np.zeros(X.shape[1])
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-(X @ beta)))
        gradient = X.T @ (p - y) + _RIDGE * beta
        curvature = (X * np.maximum(p * (1 - p), 1e-8)[:, None]).T @ X + _RIDGE * np.eye(len(beta))
        step = np.linalg.solve(curvature, gradient)
        beta -= step
        if np.abs(step).max() < 1e-10:
            break
    return beta
