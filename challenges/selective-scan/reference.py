"""A selective scan in NumPy, in float64, step by step."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

#: A step works on some ten thousand numbers at once, during which NumPy lets other threads run.
_THREADS = 16


def _scan(u, delta, A, B, C, skip):
    """(outputs, magnitudes) of one sequence; the arrays are in float64."""
    length, width = u.shape
    state, size = np.zeros(A.shape), np.zeros(A.shape)
    outputs, doubt = np.empty((length, width)), np.empty((length, width))
    for t in range(length):
        exponent = delta[t][:, None] * A
        decay = np.exp(exponent)
        push = (delta[t] * u[t])[:, None] * B[t]
        # Each step rounds the state and the decay, and an exponential of x is off by about u (|x| + 3); what was
        # lost before decays with the state.
        size = decay * size + np.abs(push) + decay * (1.0 - exponent) * np.abs(state) * 0.5
        state = decay * state + push
        outputs[t] = state @ C[t] + skip * u[t]
        doubt[t] = size @ np.abs(C[t]) + np.abs(skip * u[t])
    return outputs, doubt


def _sequences(u, delta, A, B, C, skip, length):
    """Yields (rows, outputs, magnitudes), a sequence after the other; several are worked on at a time."""
    A, skip = A.astype(np.float64), skip.astype(np.float64)

    def of_sequence(start):
        rows = slice(start, start + length)
        ours, theirs = ((x[rows].astype(np.float64), y[rows].astype(np.float64)) for x, y in ((u, delta), (B, C)))
        return (np.arange(start, start + length), *_scan(*ours, A, *theirs, skip))

    with ThreadPoolExecutor(_THREADS) as pool:
        yield from pool.map(of_sequence, range(0, len(u), length))


def reference(u, delta, A, B, C, skip, batch, seq_len, d_model, d_state):
    return np.concatenate([part[1] for part in _sequences(u, delta, A, B, C, skip, int(seq_len))])


def magnitude(u, delta, A, B, C, skip, batch, seq_len, d_model, d_state):
    return np.concatenate([part[2] for part in _sequences(u, delta, A, B, C, skip, int(seq_len))])


def spot_check(rng, inputs, outputs):
    """Everything; values and magnitudes come from one scan."""
    arrays = [np.asarray(inputs[name][:]) for name in ("u", "delta", "A", "B", "C", "skip")]
    for part in _sequences(*arrays, int(inputs["seq_len"])):
        yield {"y": part}
