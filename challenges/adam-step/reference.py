"""A step of Adam with decoupled weight decay in NumPy, in float64."""

import numpy as np

#: Elements at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 16
_SCALARS = ("rate", "beta1", "beta2", "eps", "decay", "step")


def _step(weights, gradients, first, second, rate, beta1, beta2, eps, decay, step):
    """(outputs, magnitudes), each by name."""
    rate, beta1, beta2, eps, decay = (np.float64(number) for number in (rate, beta1, beta2, eps, decay))
    w, g, m, v = (array.astype(np.float64) for array in (weights, gradients, first, second))
    kept, new = beta1 * m, (1.0 - beta1) * g
    left, dropped = (1.0 - beta1) * np.abs(m), (1.0 - beta2) * v
    m = kept + new
    v = beta2 * v + (1.0 - beta2) * g * g
    # 1 - beta is off by u / (1 - beta) where beta is rounded, and 1 - beta^t likewise by t u or so. A moment may be
    # written as what it was and a share of how far the new one is from it, which rounds both.
    corrections = 1.0 - beta1 ** int(step), 1.0 - beta2 ** int(step)
    denominator = np.sqrt(v / corrections[1]) + eps
    change = rate * (m / corrections[0]) / denominator
    doubt_first = (np.abs(kept) + np.abs(new)) * (1.0 + 0.25 / (1.0 - beta1)) + left
    doubt_second = v * (1.0 + 0.25 / (1.0 - beta2)) + dropped
    lost = sum(min(int(step), 1.0 / (1.0 - beta)) / c for beta, c in zip((beta1, beta2), corrections, strict=True))
    moved = rate / corrections[0] * doubt_first / denominator + np.abs(change) * (1.0 + lost + 0.25 / (1.0 - beta2))
    moved += 0.5 * np.abs(change) * dropped / np.where(v > 0, v, 1.0)
    values = {"weights": w - rate * decay * w - change, "first": m, "second": v}
    return values, {"weights": np.abs(w) + moved, "first": doubt_first, "second": doubt_second}


def _arguments(inputs, rows=slice(None)):
    arrays = (inputs[name][rows] for name in ("weights", "gradients", "first", "second"))
    return (*arrays, *(inputs[name] for name in _SCALARS))


def reference(**inputs):
    return _step(*_arguments(inputs))[0]


def magnitude(**inputs):
    return _step(*_arguments(inputs))[1]


def spot_check(rng, inputs, outputs):
    """Everything, in chunks."""
    count = int(inputs["N"])
    for start in range(0, count, _CHUNK):
        rows = slice(start, min(start + _CHUNK, count))
        values, sizes = _step(*_arguments(inputs, rows))
        yield {name: (np.arange(rows.start, rows.stop), values[name], sizes[name]) for name in values}
