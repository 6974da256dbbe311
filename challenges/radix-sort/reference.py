"""Sorts unsigned keys in NumPy."""

import numpy as np


def reference(input, N, output=None):
    return np.sort(input).astype(np.int64)


def mistake(inputs, outputs):
    """Keys sorted by their highest bits alone, as by a last pass that is not stable."""
    got, right = outputs["output"], np.sort(inputs["input"])
    if not (np.sort(got) == right).all():
        return None
    bits = next(count for count in range(31, -1, -1) if (np.diff((got >> (32 - count)).astype(np.int64)) >= 0).all())
    groups = np.unique(got >> (32 - bits)).size
    # Usual digits alone, and so many keys amiss that random swaps of neighbors would cross from group to group.
    if bits not in (4, 8, 16) or np.count_nonzero(got != right) * groups < 8 * got.size:
        return None
    return (
        f"the keys are sorted by their highest {bits} bits alone, as by passes that are not stable: keys with equal "
        "digits must keep the order that the pass before made"
    )
