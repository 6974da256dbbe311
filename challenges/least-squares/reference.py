"""Least squares in NumPy, in float64.

How far a coefficient may be off: eight times the standard error of normal equations whose sums have one accumulator
each, solved by Cholesky's decomposition, all in single precision. A sum over n samples has the variance
n R^2 / 9 + n^2 q^2 / 18 in u^2. The inverse carries the errors of all equations to each coefficient: one near zero
hides none of those of others.

For 100,000 samples of 272 features one accumulator reaches 0.35 of what is allowed, sums of blocks 0.02, samples in
half precision 2.3 times it (a seventh of the coefficients); for 5,003 of 1,000 these are 0.21, 0.12 and 5.
"""

import numpy as np

_FACTOR = 8.0
#: Of so many coefficients one is large: what lower precision does to the others shows.
_SMALL = 8


def make_inputs(rng, n_samples, n_features, diagonal):
    X = rng.standard_normal((n_samples, n_features), np.float32)
    X[np.arange(n_features), np.arange(n_features)] += np.float32(diagonal)
    # A single number near zero could not be divided by.
    X[0, 0] += np.copysign(np.float32(1), X[0, 0])
    beta = rng.uniform(-3, 3, n_features).astype(np.float32)
    beta[rng.permutation(n_features)[(n_features + _SMALL - 1) // _SMALL :]] *= np.float32(0.01)
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
    # Errors of the equations (variances in u^2), of sums over the samples and of the decomposition's updates.
    count, width = X.shape
    lengths = np.diag(gram)
    grown, walked = count / 9 + width / 4, 1 + 1 / 18
    powers = solution**2
    variances = grown * (gram**2 @ powers + (X.T @ y) ** 2) + walked * lengths * (lengths @ powers + y @ y)
    inverse = np.linalg.inv(gram)
    size = np.sqrt(inverse**2 @ variances) + np.linalg.norm(solution) * (lengths.max() * np.linalg.norm(inverse, 2)) / 4
    return solution, _FACTOR * (size + np.abs(solution))
