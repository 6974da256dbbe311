"""Call and put by Black and Scholes for n options: ``solve(price, strike, years, call, put, n)``, fp32, at fixed rates.

Bound by special functions where the arithmetic is generous, by memory where it is not.
"""

import math
from ctypes import c_int

import numpy as np

from tests.kernels.case import Case, Output, generator

SMALL = {"n": 4_001}
MODEL = {"n": 1 << 22}

RATE, VOLATILITY = 0.02, 0.30


def case(n: int) -> Case:
    random = generator(18)
    price = random.uniform(5, 30, n).astype(np.float32)
    strike = random.uniform(1, 100, n).astype(np.float32)
    years = random.uniform(0.25, 10, n).astype(np.float32)
    s, x, t = (values.astype(np.float64) for values in (price, strike, years))
    spread = VOLATILITY * np.sqrt(t)
    d1 = (np.log(s / x) + (RATE + VOLATILITY**2 / 2) * t) / spread
    discounted = x * np.exp(-RATE * t)
    call = s * _normal(d1) - discounted * _normal(d1 - spread)
    put = call - s + discounted
    # The polynomial in place of the normal distribution is off by 7.5e-8 (Abramowitz and Stegun 26.2.17).
    tolerance = 2e-6 * (s + x)
    outputs = (Output(call, np.float32, tolerance), Output(put, np.float32, tolerance))
    return Case((price, strike, years, *outputs, c_int(n)))


def _normal(d: np.ndarray[tuple[int], np.dtype[np.float64]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The normal distribution by erfc, tabulated: NumPy has none. Cubic interpolation over steps of 1/256."""
    grid = np.arange(-12 * 256, 12 * 256 + 1) / 256
    table = np.array([math.erfc(-z / math.sqrt(2)) / 2 for z in grid])
    slope = np.exp(-(grid**2) / 2) / math.sqrt(2 * math.pi)
    d = np.clip(d, -11.99, 11.99)
    at = ((d + 12) * 256).astype(np.int64)
    u = (d - grid[at]) * 256
    y0, y1, m0, m1 = table[at], table[at + 1], slope[at] / 256, slope[at + 1] / 256
    return y0 + u * (m0 + u * (3 * (y1 - y0) - 2 * m0 - m1 + u * (2 * (y0 - y1) + m0 + m1)))
