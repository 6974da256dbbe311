"""Black-Scholes prices in NumPy, in float64."""

import math

import numpy as np

#: Options at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 16
#: Of more options, the check of a timed call looks at this many runs.
_FEW = 1 << 20
_RUNS, _OPTIONS_OF_RUN = 256, 4096
#: The normal distribution is tabulated and interpolated by cubics, whose error is below 1e-14.
_STEP, _END = 1.0 / 512, 9.0
_PLACES = np.arange(-_END, _END + _STEP / 2, _STEP)
_VALUES = np.array([0.5 * math.erfc(-place / math.sqrt(2.0)) for place in _PLACES])


def _density(x):
    return np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)


_SLOPES = _density(_PLACES) * _STEP


def _below(x):
    """The share of a normal distribution that is below x."""
    at = (np.clip(x, -_END, _END - 1e-9) + _END) / _STEP
    place = np.minimum(at.astype(np.int64), len(_PLACES) - 2)
    t = at - place
    left, right, rise, fall = _VALUES[place], _VALUES[place + 1], _SLOPES[place], _SLOPES[place + 1]
    change = right - left
    return left + t * (rise + t * (3 * change - 2 * rise - fall + t * (rise + fall - 2 * change)))


def _prices(spot, strike, years, rate, volatility):
    """(calls, puts, magnitude of both)."""
    spot, strike, years = (array.astype(np.float64) for array in (spot, strike, years))
    rate, volatility = np.float64(rate), np.float64(volatility)
    spread = volatility * np.sqrt(years)
    logarithm = np.log(spot / strike)
    drift = (rate + 0.5 * volatility * volatility) * years
    first = (logarithm + drift) / spread
    paid = strike * np.exp(-rate * years)
    second = first - spread
    calls = spot * _below(first) - paid * _below(second)
    # Puts by their own formula: parity would lose digits where they are small.
    puts = paid * _below(-second) - spot * _below(-first)
    # The arguments are off by some roundoffs of their terms, which the density turns into an error of the share.
    sizes = 1.0 + (np.abs(logarithm) + np.abs(drift) + 1.0) / spread
    doubt = spot * (1.0 + _density(first) * sizes) + paid * (1.0 + _density(second) * sizes + np.abs(rate) * years)
    return calls, puts, doubt


def _all(spot, strike, years, rate, volatility):
    for start in range(0, len(spot), _CHUNK):
        part = slice(start, min(start + _CHUNK, len(spot)))
        yield np.arange(part.start, part.stop), *_prices(spot[part], strike[part], years[part], rate, volatility)


def reference(spot, strike, years, rate, volatility, N):
    parts = list(_all(spot, strike, years, rate, volatility))
    return {name: np.concatenate([part[i] for part in parts]) for i, name in ((1, "call"), (2, "put"))}


def magnitude(spot, strike, years, rate, volatility, N):
    parts = list(_all(spot, strike, years, rate, volatility))
    return {name: np.concatenate([part[3] for part in parts]) for name in ("call", "put")}


def spot_check(rng, inputs, outputs):
    """Runs of options at random places, at the beginning and at the end; everything where there are few."""
    prices = [inputs[name] for name in ("spot", "strike", "years")]
    size = int(inputs["N"])
    starts, length = range(0, size, _CHUNK), _CHUNK
    if size > _FEW:
        length = _OPTIONS_OF_RUN
        starts = np.union1d(rng.integers(0, size - length + 1, _RUNS), [0, size - length])
    for start in starts:
        part = slice(start, min(start + length, size))
        calls, puts, doubt = _prices(*(array[part] for array in prices), inputs["rate"], inputs["volatility"])
        rows = np.arange(part.start, part.stop)
        yield {"call": (rows, calls, doubt), "put": (rows, puts, doubt)}
