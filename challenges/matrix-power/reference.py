"""The power of a matrix in NumPy, in float64."""

import numpy as np

_RANDOM_ROWS = 24
_SUSPICIOUS_ROWS = 24


def reference(input, N, P):
    return _rows_of_power(input.astype(np.float64), int(P), np.arange(int(N)))


def magnitude(input, N, P):
    return _scale(input, int(P), np.arange(int(N)))


def _rows_of_power(matrix, exponent, rows):
    result = matrix[rows]
    for _ in range(exponent - 1):
        result = result @ matrix
    return result


def _scale(matrix, exponent, rows):
    """What rounding errors are proportional to.

    Each product adds an error of its own to every element, of either sign, that further products carry on like the
    elements themselves. So errors grow as the power of the squared elements, not of their absolute values, which is
    sqrt(N) times larger for each product. A single accumulator is off by up to sqrt(N) / 2 of it, and the errors of P
    products add up as sqrt(P).
    """
    squares = np.square(matrix.astype(np.float64))
    return np.sqrt(exponent * len(matrix) * _rows_of_power(squares, exponent, rows))


def spot_check(rng, inputs, outputs):
    """Random rows, and those where the output times random signs is furthest from what it should be (Freivalds)."""
    matrix, exponent, result = inputs["input"].astype(np.float64), int(inputs["P"]), outputs["output"][:]
    count = len(matrix)
    if count <= _RANDOM_ROWS + _SUSPICIOUS_ROWS:
        rows = np.arange(count)
    else:
        signs = rng.choice(np.array([-1.0, 1.0]), count)
        expected = signs
        for _ in range(exponent):
            expected = matrix @ expected
        distance = np.abs(result.astype(np.float64) @ signs - expected)
        # What is no number is the most suspicious of all; NumPy sorts NaN last.
        suspicious = np.argsort(distance)[-_SUSPICIOUS_ROWS:]
        rows = np.union1d(rng.choice(count, _RANDOM_ROWS, replace=False), suspicious)
    return {"output": (rows, _rows_of_power(matrix, exponent, rows), _scale(matrix, exponent, rows))}
