"""Sums of embeddings and their layer norm in NumPy, in float64, some tokens at a time."""

import numpy as np

#: Elements at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 17
#: Of more elements, the check of a timed call looks at this many runs of tokens.
_FEW = 1 << 20
_RUNS, _TOKENS_OF_RUN = 128, 16


def make_inputs(rng, B, T, V, P, D, eps):
    tokens, positions = rng.integers(0, V, B * T), rng.integers(0, P, T)
    return {"token_ids": tokens.astype(np.int32), "position_ids": positions.astype(np.int32)}


def _rows(tokens, positions, gamma, beta, eps):
    """(outputs, magnitudes) of the layer norm of the sums."""
    x = tokens.astype(np.float64)
    x += positions
    mean = x.mean(axis=1, keepdims=True)
    centred = x - mean
    variance = np.einsum("ij,ij->i", centred, centred)[:, None] / x.shape[1] + np.float64(eps)
    scale = gamma / np.sqrt(variance)
    centred *= scale
    # Sums of D numbers, one after another, have a standard error of sqrt(D) / 4 roundoffs of their absolute mean, and
    # with thousands of them some are off by five times that. A variance found as the mean of the squares less the
    # square of the mean loses so much more as those are larger than it.
    growth = 8.0 + 1.5 * np.sqrt(x.shape[1])
    sizes = np.abs(tokens.astype(np.float64))
    sizes += np.abs(positions)
    sizes += growth * sizes.mean(axis=1, keepdims=True)
    sizes *= np.abs(scale)
    sizes += growth * (1.0 + mean * mean / variance) * np.abs(centred)
    sizes += 2.0 * np.abs(beta)
    centred += beta
    return centred, sizes


def _parts(token_ids, position_ids, token_embeddings, position_embeddings, gamma, beta, eps, asked=None):
    """Yields (rows, outputs, magnitudes) of the tokens that are asked for, or of all."""
    gamma, beta = gamma.astype(np.float64), beta.astype(np.float64)
    step = max(1, _CHUNK // token_embeddings.shape[1])
    asked = np.arange(len(token_ids)) if asked is None else asked
    for start in range(0, len(asked), step):
        rows = asked[start : start + step]
        tokens = token_embeddings[token_ids[rows]]
        positions = position_embeddings[position_ids[rows % len(position_ids)]]
        yield rows, *_rows(tokens, positions, gamma, beta, eps)


_NAMES = ("token_ids", "position_ids", "token_embeddings", "position_embeddings", "gamma", "beta", "eps")


def reference(**inputs):
    return np.concatenate([part[1] for part in _parts(*(inputs[name] for name in _NAMES))])


def magnitude(**inputs):
    return np.concatenate([part[2] for part in _parts(*(inputs[name] for name in _NAMES))])


def spot_check(rng, inputs, outputs):
    """Runs of tokens at random places, at the beginning and at the end; everything where there is little."""
    count = len(inputs["token_ids"])
    asked = np.arange(count)
    if outputs["output"].size > _FEW and count > _TOKENS_OF_RUN:
        last = count - _TOKENS_OF_RUN
        starts = np.union1d(rng.integers(0, last + 1, _RUNS), [0, last])
        asked = np.unique(starts[:, None] + np.arange(_TOKENS_OF_RUN))
    else:
        real = {
            name: np.asarray(inputs[name].astype(np.float32)) for name in ("token_embeddings", "position_embeddings")
        }
        inputs = {**inputs, **real}
    for part in _parts(*(inputs[name] for name in _NAMES), asked):
        yield {"output": part}
