"""Texels that surfaces move from one array to another."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tests.integration.emulator.images.model import (
    CUBEMAP,
    FLOAT,
    LAYERED,
    SURFACE,
    UNSIGNED,
    Array,
    Case,
    pack,
)

BOUNDARY_ZERO, BOUNDARY_CLAMP = range(2)
_GEOMETRIES = {"surf1D": 1, "surf2D": 2, "surf3D": 3, "surf1DLayered": 4, "surf2DLayered": 5, "surfCubemap": 6}


@dataclass(frozen=True)
class Move:
    """Of two dimensions each texel comes from ``shift`` texels further; of other surfaces rows are mirrored."""

    case: Case
    shift: tuple[int, int] = (0, 0)
    boundary: int = BOUNDARY_CLAMP


def moves() -> Iterator[Move]:
    for name, size, flags in (
        ("surf1D", (50, 0, 0), 0),
        ("surf3D", (33, 5, 4), 0),
        ("surf1DLayered", (40, 0, 3), LAYERED),
        ("surf2DLayered", (40, 6, 3), LAYERED),
        ("surfCubemap", (8, 8, 6), CUBEMAP),
    ):
        yield Move(Case(name, name, size, flags=flags | SURFACE))
    for boundary in (BOUNDARY_CLAMP, BOUNDARY_ZERO):
        for shift in ((0, 0), (-3, 2), (40, -1)):
            for kind, bits, channels in (
                (UNSIGNED, 8, 1),
                (UNSIGNED, 16, 1),
                (UNSIGNED, 8, 4),
                (FLOAT, 32, 2),
                (UNSIGNED, 32, 4),
            ):
                name = f"surf2D by {shift}, {'clamp' if boundary else 'zero'}, {bits}x{channels}"
                case = Case(name, "surf2D", (45, 9, 0), kind=kind, bits=bits, channels=channels, flags=SURFACE)
                yield Move(case, shift, boundary)


def run_move(program: ctypes.CDLL, move: Move) -> tuple[Array, Array]:
    """Returns the result of a device, and the right one. Raises ``AssertionError`` with the CUDA error."""
    case = move.case
    (texels,) = case.texels()
    found = np.zeros_like(texels)
    error = program.run_surfaces(
        pack(case, _GEOMETRIES[case.function]), texels.tobytes(), *move.shift, move.boundary, found.ctypes
    )
    assert error == 0, f"{case.name}: CUDA error {error}"
    return found, _moved(move, texels) if case.function == "surf2D" else texels[:, :, ::-1]


def _moved(move: Move, texels: Array) -> Array:
    _, height, width, _ = texels.shape
    wanted = np.zeros_like(texels)
    for y in range(height):
        for x in range(width):
            from_x, from_y = x + move.shift[0], y + move.shift[1]
            if move.boundary == BOUNDARY_CLAMP:
                from_x, from_y = min(max(from_x, 0), width - 1), min(max(from_y, 0), height - 1)
            if 0 <= from_x < width and 0 <= from_y < height:
                wanted[0, y, x] = texels[0, from_y, from_x]
    return wanted
