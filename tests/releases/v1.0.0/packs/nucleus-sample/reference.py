"""A draw from the nucleus in NumPy, in float64, and a check that takes any token of it."""

import numpy as np

#: Logits at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 18
#: How far single-precision sums of many probabilities may be off.
_NEAR = 1e-4
#: The check refuses the most probable token if its probability is below this: only code that draws nothing takes it.
_UNLIKELY = 1e-4


def make_inputs(rng, vocab_size, part):
    logits = rng.normal(0, 2.5, vocab_size).astype(np.float32)
    if part >= 0:
        # Odd factors, so that the sixteen parts get all sixteen digits.
        block, run, place = (7 * part + 5) % 16, (5 * part + 3) % 16, (11 * part + 9) % 16
        logits[vocab_size // 4096 * 256 * part + 256 * block + 16 * run + place] = rng.uniform(50, 60)
    return {"logits": logits}


def _chunks(logits):
    for start in range(0, len(logits), _CHUNK):
        yield slice(start, start + _CHUNK)


def _mass(logits, largest, above):
    """(the sum of all exponentials, that of logits greater than ``above``)."""
    total = greater = 0.0
    for part in _chunks(logits):
        weights = np.exp(logits[part].astype(np.float64) - largest)
        total += weights.sum()
        greater += weights[logits[part] > above].sum()
    return total, greater


def reference(logits, p, seed, vocab_size):
    rng, largest, top, above = np.random.default_rng(int(seed[0])), float(logits.max()), int(np.argmax(logits)), -np.inf
    sums = np.array([_weights(logits[part], largest, above).sum() for part in _chunks(logits)])
    for _ in range(1000):
        # A draw from all tokens, again until it is one of the nucleus: those below one that is not are not either.
        chunk = int(rng.choice(len(sums), p=sums / sums.sum()))
        weights = _weights(logits[chunk * _CHUNK : (chunk + 1) * _CHUNK], largest, above)
        token = chunk * _CHUNK + int(rng.choice(len(weights), p=weights / weights.sum()))
        total, greater = _mass(logits, largest, logits[token])
        if greater >= float(p[0]) * total:
            above = logits[token]
            sums = np.array([_weights(logits[part], largest, above).sum() for part in _chunks(logits)])
        elif token != top or total <= 1.0 / _UNLIKELY:
            return np.array([token])
    return np.array([top])


def _weights(logits, largest, above):
    return np.where(logits > above, np.exp(logits.astype(np.float64) - largest), 0.0)


def check(inputs, outputs):
    logits, share = np.asarray(inputs["logits"]), float(np.asarray(inputs["p"])[0])
    token = int(outputs["sampled_token"][0])
    if not 0 <= token < len(logits):
        return f"sampled_token is {token}, which is no token"
    largest = float(logits.max())
    total, greater = _mass(logits, largest, logits[token])
    if greater >= (share + _NEAR) * total:
        mass = greater / total
        return f"sampled_token is {token}, which is not in the nucleus: more probable ones have the mass {mass:.6f}"
    if total * share > 1.0 / _UNLIKELY and logits[token] == largest:
        chance = 1 / total
        return f"sampled_token is {token}, the most probable one, which no draw gives: its probability is {chance:.2g}"
    return None
