"""Logistic regression in NumPy, in float64, by Newton's method.

How far a coefficient may be off: eight times the standard error of a gradient in single precision (sums in one
accumulator, one for each sample's product with the coefficients), as the inverse of the curvature carries it to the
coefficients; what the ridge makes; and a floor for where iterations end.

For 100,000 samples of 136 features that kernel reaches 0.1 of what is allowed, sums of blocks 0.01 also where a step of
1e-3 ended the iterations, samples in TF32 or half precision 4.8 times it; for 10,007 of 500 these are 0.17, 0.02 and
20.
"""

import numpy as np

#: A small ridge, which matters only where the data would let the coefficients grow without bound.
_RIDGE = 1e-6
_STEPS = 30
_FACTOR = 8.0
_ROUNDOFF = 2.0**-24
#: What the last step of iterations leaves: absolutely, and in addition as a share of the coefficient.
_END = 5e-7


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
        step = np.linalg.solve(*_newton_system(X, y, beta)[:2])
        beta -= step
        if np.abs(step).max() < 1e-10:
            break
    return beta


def _newton_system(X, y, beta):
    """(curvature, gradient, probabilities)"""
    with np.errstate(over="ignore"):
        p = 1 / (1 + np.exp(-(X @ beta)))
    gradient = X.T @ (p - y) + _RIDGE * beta
    curvature = (X * np.maximum(p * (1 - p), 1e-8)[:, None]).T @ X + _RIDGE * np.eye(len(beta))
    return curvature, gradient, p


def check(inputs, outputs):
    """Newton's method converges quadratically: one step from coefficients that are nearly right tells how far off they
    are, at a fraction of what finding them takes."""
    beta = np.asarray(outputs["beta"]).astype(np.float64).reshape(-1)
    if not (np.abs(beta) < 1e6).all():
        return f"beta[{int(np.flatnonzero(~(np.abs(beta) < 1e6))[0])}] is no number that a coefficient can have"
    X, y = np.asarray(inputs["X"]).astype(np.float64), np.asarray(inputs["y"]).astype(np.float64)
    curvature, gradient, p = _newton_system(X, y, beta)
    inverse = np.linalg.inv(curvature)
    step, allowed = inverse @ gradient, _allowed(X, y, beta, inverse, p)
    off = np.flatnonzero(~(np.abs(step) <= allowed))
    if off.size:
        j = int(off[0])
        change = f"a step of Newton's method would still change it by {-step[j]:.2g}"
        return f"beta[{j}] is {beta[j]:.6g}; {change}, and {allowed[j]:.2g} is allowed"
    return None


def _allowed(X, y, beta, inverse, p):
    count, width = X.shape
    residuals = p - y
    # In u: the product of a sample with the coefficients, the probability and the residual, and the gradient's sums.
    products = np.sqrt((X**2 @ beta**2) * (1 + width / 4) + 4)
    residual = p * (1 - p) * products + 2 * p
    squares = X**2
    variances = squares.T @ (residual**2 + residuals**2 * (1 + count / 18))
    rounded = np.sqrt(inverse**2 @ variances) + np.abs(beta)
    ended = _END * (1 + np.abs(beta))
    return _FACTOR * _ROUNDOFF * rounded + np.abs(inverse @ beta) * _RIDGE + ended
