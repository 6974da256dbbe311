"""Least squares in NumPy, in float64."""

import numpy as np


def make_inputs(rng, n_samples, n_features, diagonal):
    X = rng.standard_normal((n_samples, n_features), np.float32)
    X[np.arange(n_features), np.arange(n_features)] += np.float32(diagonal)
    # A single number near zero could not be divided by.
    X[0, 0] += np.copysign(np.float32(1), X[0, 0])
    beta = rng.uniform(-3, 3, n_features).astype(np.float32)
    return {"X": X, "y": X @ beta + rng.standard_normal(n_samples, np.float32)}


def reference(X, y, n_samples, n_features, beta=None):
    return _solved(X, y)[0]


def magnitude(X, y, n_samples, n_features, beta=None):
    return _solved(X, y)[1]


def spot_check(rng, inputs, outputs):
    """Everything; both from one product of X with itself, which takes nearly all of the time."""
    solution, size = _solved(np.asarray(inputs["X"]), np.asarray(inputs["y"]))
    return {"beta": (np.arange(solution.size), solution, size)}


def _solved(X, y):
    X, y = X.astype(np.float64), y.astype(np.float64)
    gram = X.T @ X
    solution = np.linalg.solve(gram, X.T @ y)
    # The normal equations square the condition number, and their sums over the samples are rounded too.
    powers = np.linalg.eigvalsh(gram)
    size = np.linalg.norm(solution) + np.linalg.norm(y) / np.sqrt(powers[-1])
    return solution, np.full(solution.shape, (2 + 0.2 * np.sqrt(len(X))) * powers[-1] / powers[0] * size)
