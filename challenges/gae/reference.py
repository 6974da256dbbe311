"""Generalised advantage estimation in NumPy, in float64, from the last step back over all rows at once."""

import numpy as np

#: Steps transposed at once: few enough to stay in a processor's cache.
_STEPS = 256
#: Of more numbers, the check of a timed call looks at this many rows.
_FEW = 1 << 20
_ROWS = 48


def reference(rewards, values, gamma, lam, B, S, advantages=None):
    return _estimate(rewards, values, gamma, lam, np.asarray)


def magnitude(rewards, values, gamma, lam, B, S, advantages=None):
    return _estimate(rewards, values, gamma, lam, np.abs)


def _estimate(rewards, values, gamma, lam, prepare):
    gamma, lam = float(gamma), float(lam)
    # Values are taken off; their absolute values add to the magnitude.
    sign = 1.0 if prepare is np.abs else -1.0
    length = rewards.shape[1]
    result = np.empty(rewards.shape)
    advantage = np.zeros(rewards.shape[0])
    next_value = np.zeros(rewards.shape[0])
    for stop in range(length, 0, -_STEPS):
        part = slice(max(0, stop - _STEPS), stop)
        steps = prepare(rewards[:, part]).T.astype(np.float64, order="C")
        of_states = prepare(values[:, part]).T.astype(np.float64, order="C")
        for t in range(len(steps) - 1, -1, -1):
            advantage = steps[t] + gamma * next_value + sign * of_states[t] + gamma * lam * advantage
            next_value = of_states[t]
            steps[t] = advantage
        result[:, part] = steps.T
    return result


def spot_check(rng, inputs, outputs):
    """Random rows, with the first and the last; all rows where there are few numbers."""
    arrays = [inputs[name] for name in ("rewards", "values")]
    rows = np.arange(len(arrays[0]))
    if arrays[0].size > _FEW:
        rows = np.union1d(rng.choice(len(rows), min(len(rows), _ROWS), replace=False), rows[[0, -1]])
    picked = [array[rows] for array in arrays]
    values, sizes = (_estimate(*picked, inputs["gamma"], inputs["lam"], prepare) for prepare in (np.asarray, np.abs))
    return {"advantages": (rows, values, sizes)}
