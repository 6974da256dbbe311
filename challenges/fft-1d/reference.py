"""The discrete Fourier transform in NumPy, in double precision."""

import numpy as np


def reference(signal, N, spectrum=None):
    pairs = signal.astype(np.float64).reshape(-1, 2)
    return np.fft.fft(pairs[:, 0] + 1j * pairs[:, 1]).view(np.float64)


def magnitude(signal, N, spectrum=None):
    # Every bin is a sum over the whole signal, each term turned by an angle of up to 2 pi that is rounded.
    pairs = signal.astype(np.float64).reshape(-1, 2)
    return np.full(signal.size, 2.0 * np.hypot(pairs[:, 0], pairs[:, 1]).sum())
