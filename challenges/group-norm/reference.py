"""Group norm in NumPy, in float64, some groups at a time. A row of X is one group of one image."""

import numpy as np

#: Elements at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 17


def _rows(x, rows, gamma, beta, pixels, groups, eps):
    """(outputs, magnitudes) of the groups ``rows``."""
    shape, each = x.shape, x.shape[1] // pixels
    x = x.astype(np.float64)
    mean = x.mean(axis=1, keepdims=True)
    centred = x - mean
    variance = np.einsum("ij,ij->i", centred, centred)[:, None] / shape[1] + np.float64(eps)
    channels = (rows % groups)[:, None] * each + np.arange(each)
    scale = (gamma[channels] / np.sqrt(variance))[:, :, None]
    shift = beta[channels][:, :, None]
    # Sums of n numbers, one after another, have a standard error of sqrt(n) / 4 roundoffs of their absolute mean, and
    # with thousands of them some are off by five times that. A variance found as the mean of the squares less the
    # square of the mean loses so much more as those are larger than it.
    growth = 8.0 + 1.5 * np.sqrt(shape[1])
    np.abs(x, out=x)
    x += growth * x.mean(axis=1, keepdims=True)
    x += growth * (1.0 + mean * mean / variance) * np.abs(centred)
    outputs = centred.reshape(*channels.shape, pixels) * scale + shift
    doubt = x.reshape(*channels.shape, pixels) * np.abs(scale) + 2.0 * np.abs(shift)
    return outputs.reshape(shape), doubt.reshape(shape)


def _parts(X, gamma, beta, H, W, G, eps):
    gamma, beta, pixels = gamma.astype(np.float64), beta.astype(np.float64), int(H) * int(W)
    step = max(1, _CHUNK // X.shape[1])
    for start in range(0, len(X), step):
        rows = np.arange(start, min(start + step, len(X)))
        yield rows, *_rows(X[start : start + step], rows, gamma, beta, pixels, int(G), eps)


def reference(X, gamma, beta, N, C, H, W, G, eps):
    return np.concatenate([part[1] for part in _parts(X, gamma, beta, H, W, G, eps)])


def magnitude(X, gamma, beta, N, C, H, W, G, eps):
    return np.concatenate([part[2] for part in _parts(X, gamma, beta, H, W, G, eps)])


def spot_check(rng, inputs, outputs):
    """Everything, some groups at a time."""
    for part in _parts(*(inputs[name] for name in ("X", "gamma", "beta", "H", "W", "G", "eps"))):
        yield {"Y": part}
