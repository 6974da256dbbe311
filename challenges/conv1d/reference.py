"""The valid cross-correlation of a signal with a kernel, in NumPy, in float64."""

import numpy as np


def reference(input, kernel, input_size, kernel_size):
    return np.correlate(input.astype(np.float64), kernel.astype(np.float64), "valid")


def magnitude(input, kernel, input_size, kernel_size):
    return reference(np.abs(input), np.abs(kernel), input_size, kernel_size)


def spot_check(rng, inputs, outputs):
    """Every element, by Fourier transforms, whose error (some 1e-15 of the magnitudes) is far below the bound."""
    signal, weights = inputs["input"][:], inputs["kernel"][:]
    values = _by_transform(signal, weights)
    return {"output": (np.arange(values.size), values, _by_transform(np.abs(signal), np.abs(weights)))}


def _by_transform(signal, weights):
    length = 1 << (signal.size - 1).bit_length()
    # Where the kernel would reach over the end, the transform wraps around: those elements are cut off.
    spectrum = np.fft.rfft(signal.astype(np.float64), length) * np.fft.rfft(weights.astype(np.float64), length).conj()
    return np.fft.irfft(spectrum, length)[: signal.size - weights.size + 1]
