"""The expected results of the matrix kernels of ``judge/gpu/peaks``, by the register layouts that PTX documents."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from judge.gpu.peaks.counts import PEAKS, Peak

Values = npt.NDArray[Any]

_TILES_A, _TILES_B, _GROUPS, _SLICES = 2, 4, 2, 4
_DEPTH = {"tf32": 1, "fp16": 2, "bf16": 2, "int8": 4}  # elements in 32 bits

#: The kernels that the emulator has instructions for, and the C types of their operands and results.
EMULATED: tuple[tuple[Peak, str, str], ...] = tuple(
    (peak, word, total)
    for peak in PEAKS
    for name, word, total in (
        ("fma_fp32", "float", "float"),
        ("fma_fp64", "double", "double"),
        ("mma_fp64", "double", "double"),
        ("mma_tf32", "unsigned", "float"),
        ("mma_fp16", "unsigned", "float"),
        ("mma_fp16_sums", "unsigned", "unsigned"),
        ("mma_bf16", "unsigned", "float"),
        ("mma_int8", "unsigned", "int"),
    )
    if peak.kernel == name
)


def matrix_sums(peak: Peak, operands: Values, results: bytes, *, rounds: int) -> tuple[Values, Values, float]:
    """The results of block 0, the expected ones, and how far apart they may be."""
    passes = 1 + 2 * rounds if peak.arithmetic == "int8" else 1
    wide = peak.kernel.startswith("wgmma")
    expected = _wide_sums(peak, operands) if wide else _sums(peak, operands)
    half = peak.kernel.endswith("_sums")
    dtype = {"int8": np.int32, "fp64": np.float64}.get(peak.arithmetic, np.float16 if half else np.float32)
    got = np.frombuffer(results, dtype).astype(np.float64).reshape(expected.shape)
    tolerance = 0.5 if peak.arithmetic == "int8" else 0.02 if half else 1e-9 if peak.arithmetic == "fp64" else 1e-4
    return got, passes * expected, tolerance


def _plain(arithmetic: str, operands: Values) -> Values:
    if arithmetic == "bf16":
        return (operands.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return operands.astype(np.float64)


def _sums(peak: Peak, operands: Values) -> Values:
    """By thread, tile and register, as the kernel writes them."""
    threads = peak.threads
    depth = _DEPTH.get(peak.arithmetic, 1)
    words = _plain(peak.arithmetic, operands).reshape(-1, threads // 32, 8, 4, depth)  # register, warp, group, lane
    large, double = peak.kernel.endswith("_large"), peak.arithmetic == "fp64"
    words_a, words_b = (8, 4) if large else (1, 1) if double else (4, 2)
    rows = 1 if double and not large else 2
    first_b = _TILES_A * words_a
    sums = np.empty((threads // 32, 8, 4, _TILES_A * _TILES_B, 2 * rows))
    for tile in range(_TILES_A * _TILES_B):
        i, j = divmod(tile, _TILES_B)
        a = words[i * words_a : (i + 1) * words_a]
        b = words[first_b + j * words_b : first_b + (j + 1) * words_b]
        # Register r of A: the row by its lowest bit where there are two, the rest along k; of B: along k.
        a = a.reshape(words_a // rows, rows, *a.shape[1:]).transpose(2, 1, 3, 0, 4, 5)
        a = a.reshape(threads // 32, 8 * rows, -1)
        b = b.transpose(1, 2, 0, 3, 4).reshape(threads // 32, 8, -1)
        product = a @ b.transpose(0, 2, 1)  # warp, row, column
        product = product.reshape(threads // 32, rows, 8, 4, 2).transpose(0, 2, 3, 1, 4)
        sums[:, :, :, tile] = product.reshape(threads // 32, 8, 4, 2 * rows)
    return sums


def _wide_sums(peak: Peak, operands: Values) -> Values:
    """By thread and register; operands lie in cores of 8 rows by 16 bytes, two cores to a slice's row of cores."""
    elements = 4 * _DEPTH[peak.arithmetic]
    flat = _plain(peak.arithmetic, operands)

    def tile(start: int, rows: int) -> Values:
        cores = flat[start : start + rows * 2 * elements].reshape(rows // 8, 2, 8, elements)
        return cores.transpose(0, 2, 1, 3).reshape(rows, 2 * elements)

    step_a, step_b = 64 * 2 * elements, 256 * 2 * elements
    sums = np.zeros((_GROUPS, 64, 256))
    for group in range(_GROUPS):
        for piece in range(_SLICES):
            a = tile((group * _SLICES + piece) * step_a, 64)
            b = tile(_GROUPS * _SLICES * step_a + piece * step_b, 256)
            sums[group] += a @ b.T
    # Warp, half, group of eight; then columns by eights, lane, pair.
    shaped = sums.reshape(_GROUPS, 4, 2, 8, 32, 4, 2).transpose(0, 1, 3, 5, 4, 2, 6)
    return shaped.reshape(_GROUPS * 128, 128)
