"""The recurrence in NumPy, in float64, step by step over all rows at once."""

import numpy as np

#: Steps transposed at once: few enough to stay in a processor's cache.
_STEPS = 256
#: Of more numbers, the check of a timed call looks at this many rows.
_FEW = 1 << 20
_ROWS = 48


def reference(a, x, B, L, h=None):
    return _recur(a, x)[0]


def magnitude(a, x, B, L, h=None):
    return _recur(a, x)[1]


def _recur(a, x):
    """(states, magnitudes).

    A scan multiplies factors with one another. Of factors just below one, each product of up to a few hundred loses the
    same way: simulated, up to u / 6 a factor. So all that a state was made of may be off by u / 4 a step.
    """
    result, sizes = np.empty(x.shape), np.empty(x.shape)
    state, size, lost = np.zeros((3, x.shape[0]))
    for start in range(0, x.shape[1], _STEPS):
        part = slice(start, start + _STEPS)
        factors = a[:, part].T.astype(np.float64, order="C")
        states = x[:, part].T.astype(np.float64, order="C")
        doubts = np.abs(states)
        if start == 0:
            factors[0] = 0.0
        for step, doubt, factor in zip(states, doubts, factors, strict=True):
            steady = np.abs(factor)
            lost = steady * (lost + np.abs(state))
            size = doubt + steady * size
            step += factor * state
            doubt[:] = size + lost / 32.0
            state = step
        result[:, part], sizes[:, part] = states.T, doubts.T
    return result, sizes


def spot_check(rng, inputs, outputs):
    """Random rows, with the first and the last; all rows where there are few numbers."""
    arrays = [inputs[name] for name in ("a", "x")]
    rows = np.arange(len(arrays[0]))
    if arrays[0].size > _FEW:
        rows = np.union1d(rng.choice(len(rows), min(len(rows), _ROWS), replace=False), rows[[0, -1]])
    picked = [array[rows] for array in arrays]
    return {"h": (rows, *_recur(*picked))}
