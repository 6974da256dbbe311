"""One step of a flock in NumPy, in float64; agents are sorted into square cells as wide as they see."""

import numpy as np

_RADIUS = 5.0
_RATE = 0.05
#: Places are multiples of this, so that squared distances are exact and "nearer than" is no matter of rounding.
_GRAIN = 1 / 16


def make_inputs(rng, N, neighbours, stacked):
    side = max(1.0, _RADIUS * np.sqrt(np.pi * N / neighbours))
    agents = rng.normal(0, 3, (N, 4))
    agents[:, :2] = np.round(rng.uniform(-side / 2, side / 2, (N, 2)) / _GRAIN) * _GRAIN
    if stacked:
        agents[:, :2] = agents[rng.integers(0, max(1, N // 5), N), :2]
    return {"agents": agents.astype(np.float32)}


def reference(agents, N, agents_next=None):
    return _step(agents)[0]


def magnitude(agents, N, agents_next=None):
    return _step(agents)[1]


def _step(agents):
    state = agents.astype(np.float64)
    place, velocity = state[:, :2], state[:, 2:]
    sums, absolutes, counts = _neighbour_sums(place, velocity)
    divisor = np.maximum(counts, 1)[:, None]
    mean = np.where(counts[:, None] > 0, sums / divisor, velocity)
    speed = velocity + _RATE * (mean - velocity)
    speed_magnitude = 1.1 * np.abs(velocity) + _RATE * absolutes / divisor
    return (
        np.hstack([place + speed, speed]),
        np.hstack([np.abs(place) + speed_magnitude, speed_magnitude]),
    )


def _neighbour_sums(place, velocity):
    """Of each agent: the sum of its neighbours' velocities, of their absolute values, and how many there are."""
    size = len(place)
    cell = np.floor((place - place.min(axis=0)) / _RADIUS).astype(np.int64) + 1
    width = int(cell[:, 1].max()) + 2
    key = cell[:, 0] * width + cell[:, 1]
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    sums, absolutes, counts = np.zeros((size, 2)), np.zeros((size, 2)), np.zeros(size)
    for offset in (-width, 0, width):
        # Three neighbouring cells of one column are next to one another.
        first = np.searchsorted(ordered, key + offset - 1)
        last = np.searchsorted(ordered, key + offset + 1, side="right")
        lengths = last - first
        own = np.repeat(np.arange(size), lengths)
        other = order[np.arange(lengths.sum()) + np.repeat(first - (np.cumsum(lengths) - lengths), lengths)]
        apart = place[own] - place[other]
        near = ((apart * apart).sum(axis=1) < _RADIUS * _RADIUS) & (own != other)
        own, other = own[near], other[near]
        counts += np.bincount(own, minlength=size)
        for axis in range(2):
            speeds = velocity[other, axis]
            sums[:, axis] += np.bincount(own, speeds, size)
            absolutes[:, axis] += np.bincount(own, np.abs(speeds), size)
    return sums, absolutes, counts
