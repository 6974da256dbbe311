"""Verification of drafted tokens in NumPy, in float64, sequence by sequence."""

import numpy as np

#: A random number may be so near to a step of the cumulative sum that single precision takes the neighbour.
_NEAR = 2e-5
#: Ratios are kept at least so far from the numbers that they are compared with.
_APART = 1e-3


def make_inputs(rng, B, T, V, support, agreement, shared):
    count = int(min(support, V))
    rows = B * T
    draft, target = (np.zeros((rows, V), np.float32) for _ in range(2))
    # Tokens with a probability: one in each stretch of the vocabulary; some of draft and target coincide.
    edges = np.linspace(0, V, count + 1).astype(np.int64)
    places = edges[:-1] + (rng.random((rows, count)) * np.diff(edges)).astype(np.int64)
    ours, theirs = (rng.exponential(size=(rows, count)) + 0.05 for _ in range(2))
    apart = rng.random((rows, count)) >= shared
    half = rng.random((rows, count)) < 0.5
    ours[apart & half] = 0.0
    theirs[apart & ~half] = 0.0
    if B > 1:
        # In the last sequence the draft is the target, so that the end of the output is not empty.
        theirs[-T:] = ours[-T:]
    for weights in (ours, theirs):
        # Each row has a token at the least.
        weights[weights.sum(axis=1) == 0, 0] = 1.0
        weights /= weights.sum(axis=1, keepdims=True)
    line = np.arange(rows)
    draft[line[:, None], places] = ours
    target[line[:, None], places] = theirs
    picked = (ours.cumsum(axis=1) < rng.random((rows, 1))).sum(axis=1).clip(0, count - 1)
    # What was drawn has a probability under the draft.
    picked = np.where(ours[line, picked] > 0, picked, ours.argmax(axis=1))
    tokens = places[line, picked]
    uniforms = rng.random((B, T + 1)).clip(1e-6, 0.999)
    ratio = np.minimum(1.0, target[line, tokens].astype(np.float64) / draft[line, tokens]).reshape(B, T)
    accept = (rng.random((B, T)) < agreement) & (ratio > 2 * _APART)
    drawn = rng.random((B, T))
    below, above = drawn * (ratio - _APART), ratio + _APART + drawn * (1.0 - ratio - _APART)
    uniforms[:, :T] = np.where(accept, below, np.where(above < 1.0, above, below)).clip(0, 0.9999)
    # No ratio of 1 can be rejected, so those tokens are accepted.
    return {
        "draft_tokens": tokens.reshape(B, T).astype(np.int32),
        "draft_probs": draft,
        "target_probs": target,
        "uniform_samples": uniforms.astype(np.float32),
    }


def _sequences(draft_tokens, draft_probs, target_probs, uniform_samples):
    """Yields for each sequence how many tokens are accepted, the cumulative mass of the draw, and its number."""
    count, length = draft_tokens.shape
    rows = np.arange(count * length).reshape(count, length)
    p, q = (array[rows, draft_tokens].astype(np.float64) for array in (draft_probs, target_probs))
    with np.errstate(divide="ignore", invalid="ignore"):
        accepted = uniform_samples[:, :length] < np.minimum(1.0, q / p)
    kept = np.where(accepted.all(axis=1), length, np.argmin(accepted, axis=1))
    for b in range(count):
        mass = target_probs[rows[b, min(kept[b], length - 1)]].astype(np.float64)
        if kept[b] < length:
            mass = np.maximum(0.0, mass - draft_probs[rows[b, kept[b]]])
            total = mass.sum()
            mass = mass / total if total > 0 else np.full(len(mass), 1.0 / len(mass))
        yield int(kept[b]), np.cumsum(mass), float(uniform_samples[b, length])


def reference(draft_tokens, draft_probs, target_probs, uniform_samples, B, T, V):
    tokens = np.zeros((int(B), int(T) + 1), np.int64)
    found = _sequences(draft_tokens, draft_probs, target_probs, uniform_samples)
    for b, (kept, cumulative, number) in enumerate(found):
        tokens[b, :kept] = draft_tokens[b, :kept]
        tokens[b, kept] = min(np.searchsorted(cumulative, number), len(cumulative) - 1)
    return tokens


def check(inputs, outputs):
    """All accepted tokens, and a drawn one at whose step the random number is, or so near that rounding decides."""
    names = ("draft_tokens", "draft_probs", "target_probs", "uniform_samples")
    drafted, *others = (np.asarray(inputs[name]) for name in names)
    for b, (kept, cumulative, number) in enumerate(_sequences(drafted, *others)):
        got = outputs["output_tokens"][b]
        for i in range(kept):
            if got[i] != drafted[b, i]:
                return f"output_tokens[{b}, {i}] is {got[i]}, but the drafted token {drafted[b, i]} is accepted"
        for i in range(kept + 1, len(got)):
            if got[i] != 0:
                return f"output_tokens[{b}, {i}] is {got[i]}, but the sequence ends before"
        token, last = int(got[kept]), len(cumulative) - 1
        first = int(np.searchsorted(cumulative, number - _NEAR))
        end = int(min(np.searchsorted(cumulative, number + _NEAR), last))
        if not min(first, last) <= token <= end:
            where = "the bonus token" if kept == drafted.shape[1] else "the replacement"
            return f"output_tokens[{b}, {kept}], {where}, is {token}, but the draw gives {end}"
        if token not in (first, end) and cumulative[token] == (cumulative[token - 1] if token else 0.0):
            return f"output_tokens[{b}, {kept}] is {token}, whose probability is 0"
    return None
