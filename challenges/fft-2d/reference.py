"""The two-dimensional discrete Fourier transform in NumPy, in double precision."""

import numpy as np


def reference(signal, M, N, spectrum=None):
    return np.fft.fft2(_complex(signal)).view(np.float64)


def magnitude(signal, M, N, spectrum=None):
    # Every bin is a sum over the whole image, each term turned by an angle of up to 2 pi that is rounded.
    return np.full(signal.shape, 2.0 * np.abs(_complex(signal)).sum())


def _complex(signal):
    return signal.astype(np.float64).view(np.complex128)
