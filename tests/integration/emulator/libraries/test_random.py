"""curand's device functions: numbers of known generators."""

from __future__ import annotations

import ctypes
import os
import subprocess

import numpy as np
import pytest

from tests.emulated_device import Device
from tests.integration.emulator.libraries.conftest import Load

pytestmark = [pytest.mark.nvcc, pytest.mark.usefixtures("_curand")]
SEED = 0x123456789ABCDEF


@pytest.fixture(scope="module")
def _curand() -> None:
    """Skips the tests without the headers of curand, which come apart from the compiler."""
    command = ["nvcc", "-E", "-x", "cu", "-", "-o", os.devnull]
    done = subprocess.run(command, input=b"#include <curand_kernel.h>\n", capture_output=True, check=False)
    if done.returncode:
        pytest.skip("curand's headers are not installed")


def test_philox(device: Device, load: Load) -> None:
    """Offset 5 into the stream of each thread's subsequence: eight words, then four numbers in (0, 1]."""
    n = 64
    words, drawn = device.array(8 * n, np.uint32)
    floats, uniform = device.array(4 * n)
    assert load("random").philox(ctypes.c_ulonglong(SEED), words, floats, n) == 0
    expected = np.array([[philox(SEED, thread, at) for at in range(5, 17)] for thread in range(n)], np.uint32)
    np.testing.assert_array_equal(drawn.reshape(n, 8), expected[:, :8])
    exact = expected[:, 8:].astype(np.float32).astype(np.float64) * 2.0**-32 + 2.0**-33
    np.testing.assert_array_equal(uniform.reshape(n, 4), exact.astype(np.float32))


def philox(seed: int, subsequence: int, at: int) -> int:
    """Philox4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011): the ``at``-th word."""
    counter = [at // 4, 0, subsequence, 0]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        first, second = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        low, high = 0xFFFFFFFF, 32
        counter = [second >> high ^ counter[1] ^ key[0], second & low, first >> high ^ counter[3] ^ key[1], first & low]
        key = [(key[0] + 0x9E3779B9) & low, (key[1] + 0xBB67AE85) & low]
    return counter[at % 4]


def test_xorwow(device: Device, load: Load) -> None:
    n = 32
    words, drawn = device.array(8 * n, np.uint32)
    assert load("random").xorwow(ctypes.c_ulonglong(SEED), words, n) == 0
    assert drawn.reshape(n, 8).tolist() == [xorwow(SEED + thread, 8) for thread in range(n)]


def xorwow(seed: int, count: int) -> list[int]:
    """Marsaglia's xorwow (Xorshift RNGs, 2003), its state scrambled by the seed as ``curand_init`` does."""
    low = 0xFFFFFFFF
    t0 = 1099087573 * ((seed & low) ^ 0xAAD26B49) & low
    t1 = 2591861531 * ((seed >> 32) ^ 0xF7DCEFDD) & low
    d = 6615241 + t1 + t0
    v = [(123456789 + t0) & low, 362436069 ^ t0, (521288629 + t1) & low, 88675123 ^ t1, (5783321 + t0) & low]
    drawn = []
    for _ in range(count):
        t = v[0] ^ v[0] >> 2
        v = [*v[1:], (v[4] ^ v[4] << 4 ^ t ^ t << 1) & low]
        d += 362437
        drawn.append((v[4] + d) & low)
    return drawn
