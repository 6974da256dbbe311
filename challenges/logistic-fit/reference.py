"""Logistic regression in NumPy, in float64, by Newton's method."""

import numpy as np

#: A small ridge, which matters only where the data would let the coefficients grow without bound.
_RIDGE = 1e-6
_STEPS = 30
#: How far a coefficient may be off: absolutely, and in addition as a share of itself.
_ALLOWED = 1e-4


def make_inputs(rng, n_samples, n_features, strength, offset):
    X = rng.standard_normal((n_samples, n_features), np.float32)
    beta = rng.standard_normal(n_features) * (strength / np.sqrt(n_features))
    odds = np.exp(-(X @ beta.astype(np.float32)))
    y = (rng.random(n_samples) * (1 + odds) < 1).astype(np.float32)
    # Some answers are turned round, at both ends of every feature, so that no coefficients separate all samples.
    turned = rng.random(n_samples) < 0.05
    y[turned] = 1 - y[turned]
    X += np.float32(offset)
    # Four samples that no coefficients explain, whatever the others are.
    X[:4] = np.abs(X[0]) + np.float32(0.5)
    X[1], X[3] = -X[1], -X[3]
    y[:4] = [1, 1, 0, 0]
    return {"X": X, "y": y}


def reference(X, y, n_samples, n_features, beta=None):
    X, y = X.astype(np.float64), y.astype(np.float64)
    beta = np.zeros(X.shape[1])
    for _ in range(_STEPS):
        step = _newton_step(X, y, beta)
        beta -= step
        if np.abs(step).max() < 1e-10:
            break
    return beta


def _newton_step(X, y, beta):
    with np.errstate(over="ignore"):
        p = 1 / (1 + np.exp(-(X @ beta)))
    gradient = X.T @ (p - y) + _RIDGE * beta
    curvature = (X * np.maximum(p * (1 - p), 1e-8)[:, None]).T @ X + _RIDGE * np.eye(len(beta))
    return np.linalg.solve(curvature, gradient)


def check(inputs, outputs):
    """Newton's method converges quadratically: one step from coefficients that are nearly right tells how far off they
    are, at a fraction of what finding them takes."""
    beta = np.asarray(outputs["beta"]).astype(np.float64).reshape(-1)
    if not (np.abs(beta) < 1e6).all():
        return f"beta[{int(np.flatnonzero(~(np.abs(beta) < 1e6))[0])}] is no number that a coefficient can have"
    step = _newton_step(np.asarray(inputs["X"]).astype(np.float64), np.asarray(inputs["y"]).astype(np.float64), beta)
    off = np.flatnonzero(~(np.abs(step) <= _ALLOWED * (1 + np.abs(beta))))
    if off.size:
        j = int(off[0])
        return f"beta[{j}] is {beta[j]:.6g}; a step of Newton's method would still change it by {-step[j]:.2g}"
    return None
