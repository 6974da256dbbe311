"""RMS norm of a whole vector in NumPy, in float64."""

import numpy as np

#: Few enough to stay in a processor's cache.
_CHUNK = 1 << 17
#: So many squares one accumulator may get, whose roundings have one sign where it is large beside them.
_SERIAL = 1 << 19
#: So many terms: of the largest vector, an atomicAdd by each warp.
_TERMS = 1 << 21


def _inverse_root(values, eps):
    total = 0.0
    for start in range(0, values.size, _CHUNK):
        chunk = values[start : start + _CHUNK].astype(np.float64)
        total += float(chunk @ chunk)
    return 1.0 / np.sqrt(total / values.size + np.float64(eps))


def _normalised(values, gamma, beta, inverse_root):
    return np.float64(gamma) * values.astype(np.float64) * inverse_root + np.float64(beta)


def _magnitude(values, gamma, beta, inverse_root, count):
    # The squares, added up one after another, are off by some sqrt(count) / 3 roundoffs, and by up to 3 sqrt(count)
    # where one is large or there are hundreds of thousands; the root halves that.
    return _own(values, gamma, beta, inverse_root, 8.0 + _growth(count))


def _growth(count):
    """How many roundoffs the root may be off by, which all elements share."""
    return max(0.75 * np.sqrt(min(count, _TERMS)), 2.0 * np.sqrt(min(count, _SERIAL)))


def _own(values, gamma, beta, inverse_root, roundoffs):
    scaled = np.abs(values.astype(np.float64)) * (abs(np.float64(gamma)) * inverse_root)
    return scaled * roundoffs + 2.0 * abs(np.float64(beta))


def _shared_factor(inputs, outputs, inverse_root):
    """The factor that the outputs have in common beside the right root, if it is an allowed one; else 1."""
    values, beta = inputs["input"], np.float64(inputs["beta"])
    along = square = 0.0
    for start in range(0, values.size, _CHUNK):
        part = slice(start, min(start + _CHUNK, values.size))
        scaled = _normalised(values[part], inputs["gamma"], 0.0, inverse_root)
        along += float(scaled @ (outputs["output"][part].astype(np.float64) - beta))
        square += float(scaled @ scaled)
    factor = along / square if square else 1.0
    return factor if abs(factor - 1.0) <= _growth(values.size) * 2.0**-24 else 1.0


def reference(input, gamma, beta, N, eps):
    return _normalised(input, gamma, beta, _inverse_root(input, eps))


def magnitude(input, gamma, beta, N, eps):
    return _magnitude(input, gamma, beta, _inverse_root(input, eps), input.size)


def spot_check(rng, inputs, outputs):
    """Everything, in chunks. What the root is off by is told from the elements' own errors, which are small."""
    values, gamma, beta = inputs["input"], inputs["gamma"], inputs["beta"]
    inverse_root = _inverse_root(values, inputs["eps"])
    inverse_root *= _shared_factor(inputs, outputs, inverse_root)
    for start in range(0, values.size, _CHUNK):
        part = values[start : start + _CHUNK]
        rows = np.arange(start, start + part.size)
        expected = _normalised(part, gamma, beta, inverse_root)
        yield {"output": (rows, expected, _own(part, gamma, beta, inverse_root, 16.0))}
