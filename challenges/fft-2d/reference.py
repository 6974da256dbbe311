"""The two-dimensional discrete Fourier transform in NumPy, in double precision.

How far a bin may be off: eight times the standard error of the least accurate honest kernel, which adds up rows and
then columns by the definition, each in one accumulator. Terms that walk about zero give n q^2 / 18 in u^2, those of
a tone n R^2 / 9.

For 2,048 rows of 4,096 that kernel reaches 0.46 of what is allowed, Stockham's transform 0.05 (0.06 with angles rounded
to single precision), halves or TF32 between rows and columns 52 times it; for 32 rows of 64 these are 0.15, 0.09, 0.11
and 163.
"""

import numpy as np

_FACTOR = 8.0
#: What sines and cosines in single precision and their angles are off, in u.
_ANGLES = 4.0


def reference(signal, M, N, spectrum=None):
    return np.fft.fft2(_complex(signal)).view(np.float64)


def magnitude(signal, M, N, spectrum=None):
    """The allowed error of each bin in u."""
    return _allowed(np.fft.fft2(_complex(signal)))


def spot_check(rng, inputs, outputs):
    """Everything; both from one transform, which takes nearly all of the time."""
    bins = np.fft.fft2(_complex(np.asarray(inputs["signal"])))
    return {"spectrum": (np.arange(len(bins)), bins.view(np.float64), _allowed(bins))}


def _allowed(bins):
    rows, columns = bins.shape
    powers = bins.real**2 + bins.imag**2
    mean = powers.mean()
    # The energy of one row or column of the spectrum may be that of a tone, which the first step adds up.
    first = np.maximum(columns / 9 * powers.mean(axis=0), rows / 9 * powers.mean(axis=1)[:, None])
    walks = mean * (_ANGLES**2 + np.log2(2 * rows * columns) + (rows + columns) / 18)
    allowed = _FACTOR * np.sqrt(walks + first + max(rows, columns) / 9 * powers)
    return np.repeat(allowed, 2, axis=1)


def _complex(signal):
    return signal.astype(np.float64).view(np.complex128)
