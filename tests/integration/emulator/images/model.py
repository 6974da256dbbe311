"""A plain evaluation of texture fetches, as the CUDA programming guide defines them, and the cases for it."""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

LINEAR, PITCHED, ARRAY, MIPMAPPED = range(4)
WRAP, CLAMP, MIRROR, BORDER = range(4)
POINT, FILTERED = range(2)
SIGNED, UNSIGNED, FLOAT = range(3)
LAYERED, SURFACE, CUBEMAP, GATHER = 1, 2, 4, 8
COORDINATES = 10  # of a fetch: x, y, z, layer or index, and six for a level or derivatives

_FUNCTIONS = [
    "tex1Dfetch",
    "tex1D",
    "tex2D",
    "tex3D",
    "tex1DLayered",
    "tex2DLayered",
    "texCubemap",
    "texCubemapLayered",
    "tex1DLod",
    "tex2DLod",
    "tex3DLod",
    "tex2DLayeredLod",
    "texCubemapLod",
    "tex1DGrad",
    "tex2DGrad",
    "tex3DGrad",
    "gather0",
    "gather1",
    "gather2",
    "gather3",
    "tex2DResident",
]


@dataclass(frozen=True)
class Case:
    """A texture, and the function that fetches. ``size``: width, height, depth or layers; 0 for what there is not."""

    name: str
    function: str
    size: tuple[int, int, int]
    resource: int = ARRAY
    kind: int = FLOAT
    bits: int = 32
    channels: int = 1
    levels: int = 1
    flags: int = 0
    modes: tuple[int, int, int] = (CLAMP, CLAMP, CLAMP)
    filter: int = POINT
    between_levels: int = POINT
    normalizes: bool = False
    srgb: bool = False
    normalized: bool = False
    border: tuple[float, float, float, float] = (0, 0, 0, 0)
    bias: float = 0
    least_level: float = 0
    most_level: float = 0

    @property
    def axes(self) -> int:
        if self.function.startswith("texCubemap"):
            return 3
        return (
            next((int(digit) for digit in self.function if digit in "123"), 2) if "gather" not in self.function else 2
        )

    @property
    def is_rounded(self) -> bool:
        """Whether weights lie between those that filters can have."""
        return "rounded" in self.name

    @property
    def is_layered(self) -> bool:
        return bool(self.flags & (LAYERED | CUBEMAP))

    def shape(self, level: int) -> tuple[int, int, int]:
        """Returns the width, height and depth of a level, at least 1."""
        width, height, depth = (max(1, n >> level) for n in self.size)
        return width, height, max(1, self.size[2]) if self.is_layered else depth

    @property
    def dtype(self) -> Any:
        return np.dtype(f"{'iuf'[self.kind]}{self.bits // 8}")

    def texels(self) -> list[Array]:
        """Returns the texels of each level, by slice, row and column, with the channels last."""
        random = np.random.default_rng(sum(self.name.encode()))
        levels = []
        for level in range(self.levels):
            width, height, depth = self.shape(level)
            # Sums of products with the weights are exact in 32 bits.
            values = random.integers(-128 if self.kind == SIGNED else 0, 128, (depth, height, width, self.channels))
            if self.bits == 8 and self.kind == UNSIGNED:
                values = random.integers(0, 256, values.shape)
            levels.append(values.astype(self.dtype))
        return levels

    def coordinates(self, count: int = 96) -> Array:
        """Returns places within the texture and outside, away from where rounding decides which texel is meant."""
        random = np.random.default_rng(sum(self.name.encode()) + 1)
        places = np.zeros((count, COORDINATES), np.float32)
        if self.function.startswith("texCubemap"):
            places[:, :3] = [self._direction(random) for _ in range(count)]
        else:
            for axis, size in enumerate(self.shape(0)[: self.axes]):
                # Parts of a texel, of the smallest level too: never the edge between two.
                step = 64 << (self.levels - 1)
                texels = (random.integers(-size * step // 2, size * step * 3 // 2, count) * 2 + 1) / (2 * step)
                # A quarter behind a weight that filters can have; where weights are to be rounded, other parts.
                texels += random.choice(np.arange(1, 16, 2) / 4096, count) if self.is_rounded else 1 / 1024
                places[:, axis] = texels / size if self.normalized else texels
        layers = self.size[2] // 6 if self.flags & CUBEMAP else self.size[2]
        places[:, 3] = (
            random.integers(-1, layers + 1, count) if self.is_layered else random.integers(-2, self.size[0] + 2, count)
        )
        places[:, 4] = random.integers(-8, 8 * self.levels + 8, count) / 8 + 1 / 32
        if "Grad" in self.function:
            for axis in range(3):
                size = self.shape(0)[axis]
                steps = random.integers(0, 2 * self.levels + 1, (count, 2))
                places[:, 4 + axis], places[:, 7 + axis] = (
                    (2.0**steps / size / 2).T if axis == 0 else (steps / size / 64).T
                )
        return places

    def _direction(self, random: np.random.Generator) -> Array:
        """Returns a direction that is not close to the edge of a texel."""
        while True:
            direction = random.uniform(-1, 1, 3).astype(np.float32)
            _, s, t = _face(*map(float, direction))
            if all(0.1 < n * self.shape(level)[0] % 1 < 0.9 for level in range(self.levels) for n in (s, t)):
                return direction


#: Of the program's ``Case``, by the letter of its type.
_FIELDS = (
    ("i", ("resource", "function", "kind", "bits", "channels", "width", "height", "depth", "levels", "flags")),
    ("i", ("mode_x", "mode_y", "mode_z", "filter", "between_levels", "normalizes", "srgb", "normalized")),
    ("f", ("border_r", "border_g", "border_b", "border_a", "bias", "least_level", "most_level")),
)


def pack(case: Case, function: int) -> bytes:
    """Returns the program's ``Case``, with the number of a function."""
    width, height, depth = case.size
    parts = {"function": function, "width": width, "height": height, "depth": depth}
    parts |= {f"mode_{axis}": mode for axis, mode in zip("xyz", case.modes, strict=True)}
    border = {f"border_{channel}": value for channel, value in zip("rgba", case.border, strict=True)}
    given = {**vars(case), **parts, **border}
    return b"".join(struct.pack(f"{len(names)}{letter}", *(given[n] for n in names)) for letter, names in _FIELDS)


def fetch_all(program: ctypes.CDLL, case: Case, places: Array) -> Array:
    """Returns the results of a device: four words for each place. Raises ``AssertionError`` with the CUDA error."""
    out = np.zeros(
        (len(places), 4), np.float32 if case.kind == FLOAT or case.normalizes else np.dtype(f"{'iu'[case.kind]}4")
    )
    texels = b"".join(level.tobytes() for level in case.texels())
    given = np.ascontiguousarray(places, np.float32)
    packed = pack(case, _FUNCTIONS.index(case.function))
    error = program.run_fetches(packed, texels, given.ctypes, len(given), out.ctypes)
    assert error == 0, f"{case.name}: CUDA error {error}"
    return out


# ------------------------------------------------------------------------------------------------ the evaluation
def expected(case: Case, places: Array) -> list[list[float]]:
    """Returns the result of each fetch: one number for each channel of the format, four of a gather."""
    levels = [level.astype(float) for level in case.texels()]
    return [_fetch(case, levels, [float(n) for n in place]) for place in places]


def _fetch(case: Case, levels: list[Array], place: list[float]) -> list[float]:
    at, slice_ = _position(case, place)
    if case.function.startswith("gather"):
        lower, upper = ((0, 1), (1, 1)), ((1, 0), (0, 0))
        channel = int(case.function[-1])
        columns, rows = (_two(at[axis] * (case.size[axis] if case.normalized else 1)) for axis in (0, 1))
        return [_texel(case, levels[0], columns[0] + x, rows[0] + y, 0)[channel] for x, y in lower + upper]
    result = [0.0] * case.channels
    for level, share in _levels(case, place):
        for weight, texel in _weighted(case, levels[level], at, slice_):
            result = [old + share * weight * new for old, new in zip(result, texel, strict=True)]
    is_half = case.kind == FLOAT and case.bits == 16
    return [float(np.float16(number)) for number in result] if is_half else result


def _position(case: Case, place: list[float]) -> tuple[list[float], int]:
    """Returns the coordinates along the axes that are left, and the slice (the layer, the face)."""
    x, y, z, index = place[:4]
    layers = case.size[2] // 6 if case.flags & CUBEMAP else case.size[2]
    # The number has no sign: below the first layer lies the last.
    layer = min(int(index) % 2**32, layers - 1) if "Layered" in case.function else 0
    if case.function == "tex1Dfetch":
        return [index], 0
    if case.function.startswith("texCubemap"):
        face, s, t = _face(x, y, z)
        return [s, t], 6 * layer + face
    return [x, y, z][: case.axes], layer


def _face(x: float, y: float, z: float) -> tuple[int, float, float]:
    """The table of the programming guide: the face, and (s/m + 1) / 2, (t/m + 1) / 2."""
    if abs(x) > max(abs(y), abs(z)):
        face, m, s, t = (0, x, -z, -y) if x >= 0 else (1, -x, z, -y)
    elif abs(y) > abs(z):
        face, m, s, t = (2, y, x, z) if y >= 0 else (3, -y, x, -z)
    else:
        face, m, s, t = (4, z, x, -y) if z >= 0 else (5, -z, -x, -y)
    return face, (s / m + 1) / 2, (t / m + 1) / 2


def _levels(case: Case, place: list[float]) -> list[tuple[int, float]]:
    level = 0.0
    if "Lod" in case.function:
        level = place[4]
    elif "Grad" in case.function:
        sides = [
            math.hypot(
                *(place[first + axis] * (case.shape(0)[axis] if case.normalized else 1) for axis in range(case.axes))
            )
            for first in (4, 7)
        ]
        level = math.log2(max(sides)) if max(sides) else -100
    level = min(max(level + case.bias, case.least_level), case.most_level)
    level = min(max(level, 0), case.levels - 1)
    if case.between_levels == POINT:
        return [(math.floor(level + 0.5), 1.0)]
    whole, part = divmod(math.floor(level * 256 + 0.5), 256)
    return [(whole, 1 - part / 256), *([(whole + 1, part / 256)] if part else [])]


def _two(place: float) -> tuple[int, float]:
    """Returns the first of two texels, and the weight of the second: 8 bits of fraction."""
    whole, part = divmod(math.floor((place - 0.5) * 256 + 0.5), 256)
    return whole, part / 256


def _weighted(case: Case, level: Array, at: list[float], slice_: int) -> Iterator[tuple[float, list[float]]]:
    sizes = level.shape[2::-1]
    is_cube = case.function.startswith("texCubemap")
    along: list[list[tuple[int, float]]] = []
    for axis, place in enumerate(at):
        scaled = place * (sizes[axis] if case.normalized or is_cube else 1)
        if case.filter == POINT or case.function == "tex1Dfetch":
            along.append([(math.floor(scaled), 1.0)])
        else:
            first, weight = _two(scaled)
            along.append([(first, 1 - weight), (first + 1, weight)])
    if case.function in ("tex1D", "tex1DLod", "tex1DGrad") and case.filter != POINT and case.modes[1] == BORDER:
        along.append([(-1, 0.5), (0, 0.5)])  # a row alone lies between the borders above and below it
    along += [[(0, 1.0)]] * (2 - len(along))
    if len(along) == 2:
        along.append([(slice_, 1.0)])
    for z, weight_z in along[2]:
        for y, weight_y in along[1]:
            for x, weight_x in along[0]:
                yield _weight(weight_x, (z, weight_z, along[2]), (y, weight_y, along[1])), _texel(case, level, x, y, z)


def _weight(first: float, *others: tuple[int, float, list[tuple[int, float]]]) -> float:
    """Returns a texel's part of 256, which is divided by one axis after the other and rounded each time."""
    weight = round(first * 256)
    for place, _, places in others:
        if len(places) > 1:
            second = math.floor(weight * places[1][1] + 0.5)
            weight = second if place == places[1][0] else weight - second
    return weight / 256


def _texel(case: Case, level: Array, x: int, y: int, z: int) -> list[float]:
    depth, height, width, _ = level.shape
    place = [x, y, z]
    for axis, size in enumerate((width, height, depth)[: 2 if case.is_layered else 3]):
        mode = case.modes[axis]
        if not case.normalized and mode in (WRAP, MIRROR):
            mode = CLAMP
        if case.function == "tex1Dfetch":
            if not 0 <= place[axis] < size:
                return [0.0] * case.channels
        elif mode == BORDER and not 0 <= place[axis] < size:
            return list(case.border[: case.channels])
        place[axis] = _addressed(place[axis], size, mode)
    raw = level[place[2], place[1], place[0]]
    return [_number(case, float(value), channel) for channel, value in enumerate(raw)]


def _addressed(place: int, size: int, mode: int) -> int:
    if mode == WRAP:
        return place % size
    if mode == MIRROR:
        place %= 2 * size
        return min(place, 2 * size - 1 - place)
    return min(max(place, 0), size - 1)


def _number(case: Case, value: float, channel: int) -> float:
    if not case.normalizes:
        return value
    most = 2 ** (case.bits - (case.kind == SIGNED)) - 1
    value = max(value / most, -1.0)
    if case.srgb and channel < 3:
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
    return value


# --------------------------------------------------------------------------------------------------------- cases
_MODES = {"wrap": WRAP, "clamp": CLAMP, "mirror": MIRROR, "border": BORDER}
_SHAPES: dict[str, dict[str, Any]] = {
    "tex1D": {"size": (37, 0, 0)},
    "tex2D": {"size": (21, 13, 0)},
    "tex3D": {"size": (9, 7, 5)},
    "tex1DLayered": {"size": (19, 0, 3), "flags": LAYERED},
    "tex2DLayered": {"size": (11, 6, 4), "flags": LAYERED},
}


def cases() -> Iterator[Case]:
    for function, shape in _SHAPES.items():
        for mode_name, mode in _MODES.items():
            for filter_ in (POINT, FILTERED):
                for normalized in (False, True):
                    tail = f"{', filtered' if filter_ else ''}{', normalized' if normalized else ''}"
                    border = (3.0, 0.0, 0.0, 0.0)
                    case = Case(f"{function}, {mode_name}{tail}", function, filter=filter_, border=border, **shape)
                    yield replace(case, modes=(mode,) * 3, normalized=normalized)
    for function in ("tex1D", "tex2D", "tex3D"):
        for normalized in (False, True):
            name = f"{function}, rounded weights{', normalized' if normalized else ''}"
            yield Case(name, function, filter=FILTERED, normalized=normalized, **_SHAPES[function])
    yield from _formats()
    yield from _resources()
    yield from _cubemaps()
    yield from _mipmaps()
    for channel in range(4):
        gathered = Case(f"gather{channel}", f"gather{channel}", (13, 9, 0), channels=4, flags=GATHER)
        yield gathered
        yield replace(gathered, name=f"gather{channel}, bytes", kind=UNSIGNED, bits=8)
        yield replace(gathered, name=f"gather{channel}, wrap", normalized=True, modes=(WRAP,) * 3)
    yield Case("resident", "tex2DResident", (8, 8, 0), filter=FILTERED)


def _formats() -> Iterator[Case]:
    base = Case("", "tex2D", (17, 5, 0))
    for channels in (1, 2, 4):
        for kind, bits in ((SIGNED, 8), (UNSIGNED, 8), (SIGNED, 16), (UNSIGNED, 16), (SIGNED, 32), (UNSIGNED, 32)):
            of = replace(base, kind=kind, bits=bits, channels=channels)
            name = f"{'su'[kind]}{bits}x{channels}"
            yield replace(of, name=name)
            if bits < 32:
                yield replace(of, name=f"{name}, normalized", normalizes=True)
                yield replace(of, name=f"{name}, normalized, filtered", normalizes=True, filter=FILTERED)
        for bits in (16, 32):
            of = replace(base, bits=bits, channels=channels)
            yield replace(of, name=f"f{bits}x{channels}")
            yield replace(of, name=f"f{bits}x{channels}, filtered", filter=FILTERED)
    srgb = replace(base, kind=UNSIGNED, bits=8, channels=4, normalizes=True, srgb=True)
    yield replace(srgb, name="srgb")
    yield replace(srgb, name="srgb, filtered", filter=FILTERED)


def _resources() -> Iterator[Case]:
    for kind, bits in ((FLOAT, 32), (SIGNED, 32), (UNSIGNED, 8), (FLOAT, 16)):
        for channels in (1, 4):
            name = f"{'suf'[kind]}{bits}x{channels}"
            yield Case(f"linear, {name}", "tex1Dfetch", (100, 0, 0), LINEAR, kind, bits, channels)
            yield Case(f"pitched, {name}", "tex2D", (30, 7, 0), PITCHED, kind, bits, channels)
    yield Case("linear, normalized", "tex1Dfetch", (64, 0, 0), LINEAR, UNSIGNED, 8, 4, normalizes=True)
    yield Case("pitched, filtered", "tex2D", (30, 7, 0), PITCHED, filter=FILTERED)
    yield Case(
        "pitched, wrap", "tex2D", (30, 7, 0), PITCHED, filter=FILTERED, normalized=True, modes=(WRAP, MIRROR, CLAMP)
    )


def _cubemaps() -> Iterator[Case]:
    for normalized in (False, True):
        tail = ", normalized" if normalized else ""
        cube = Case("", "texCubemap", (16, 16, 6), flags=CUBEMAP, normalized=normalized)
        yield replace(cube, name=f"cubemap{tail}")
        layers = replace(cube, function="texCubemapLayered", size=(8, 8, 18), flags=CUBEMAP | LAYERED)
        yield replace(layers, name=f"cubemap, layers{tail}")


def _mipmaps() -> Iterator[Case]:
    for function, size, flags, levels in (
        ("tex1DLod", (64, 0, 0), 0, 5),
        ("tex2DLod", (32, 16, 0), 0, 5),
        ("tex3DLod", (16, 8, 8), 0, 4),
        ("tex2DLayeredLod", (16, 16, 3), LAYERED, 4),
        ("texCubemapLod", (16, 16, 6), CUBEMAP, 4),
        ("tex1DGrad", (64, 0, 0), 0, 5),
        ("tex2DGrad", (32, 16, 0), 0, 5),
        ("tex3DGrad", (16, 8, 8), 0, 4),
    ):
        base = Case("", function, size, MIPMAPPED, levels=levels, flags=flags, normalized=True, most_level=levels - 1)
        yield replace(base, name=f"{function}, point")
        if "Cubemap" not in function:
            yield replace(base, name=f"{function}, filtered", filter=FILTERED)
        if "Grad" not in function:
            yield replace(base, name=f"{function}, between levels", between_levels=FILTERED)
            yield replace(base, name=f"{function}, bias", bias=0.75, least_level=0.5, most_level=2)
