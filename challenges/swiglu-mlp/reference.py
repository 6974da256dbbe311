"""A SwiGLU feed-forward layer in NumPy, in float64."""

import numpy as np

_ROWS = 24
_SUSPICIOUS_ROWS = 40


def _gated(gate, up):
    with np.errstate(over="ignore"):
        return gate / (1.0 + np.exp(-gate)) * up


def _layer(x, gate, up, down):
    return _gated(x @ gate, x @ up) @ down


def _magnitude(x, gate, up, down):
    """How far rounding moves an element, in roundoffs: through both products, the gate and the last product."""
    gates, ups, sizes = x @ gate, x @ up, np.abs(x)
    with np.errstate(over="ignore"):
        opened = 1.0 / (1.0 + np.exp(-gates))
    slope = np.abs(opened * (1.0 + gates * (1.0 - opened)))
    # An exponential of an argument a is off by about u (|a| + 3).
    doubt = slope * (sizes @ np.abs(gate)) * np.abs(ups) + np.abs(gates * opened) * (sizes @ np.abs(up))
    doubt += np.abs(gates * opened * ups) * (6.0 + np.abs(gates) * (1.0 - opened))
    return doubt @ np.abs(down)


def _doubles(*arrays):
    return (array.astype(np.float64) for array in arrays)


def reference(x, W_gate, W_up, W_down, M, d_model, d_ffn):
    return _layer(*_doubles(x, W_gate, W_up, W_down))


def magnitude(x, W_gate, W_up, W_down, M, d_model, d_ffn):
    return _magnitude(*_doubles(x, W_gate, W_up, W_down))


def spot_check(rng, inputs, outputs):
    """Random rows, and those that are furthest from what single precision makes of all of them."""
    arrays = [np.asarray(inputs[name][:]) for name in ("x", "W_gate", "W_up", "W_down")]
    count = len(arrays[0])
    if count <= _ROWS + _SUSPICIOUS_ROWS:
        rows = np.arange(count)
    else:
        away = np.abs(outputs["output"] - _layer(*arrays)).max(axis=1)
        rows = np.union1d(rng.choice(count, _ROWS, replace=False), np.argsort(away)[-_SUSPICIOUS_ROWS:])
    arrays = list(_doubles(arrays[0][rows], *arrays[1:]))
    return {"output": (rows, _layer(*arrays), _magnitude(*arrays))}
