"""Derives the error bound of an ``auto`` tolerance from the reference itself: nobody works a magnitude out by hand.

What a computation in single precision may lose shows in three ways. Let u = 2^-24, and let R be an element of an output
of the float64 reference.

* **Perturbation.** Every number of every floating-point input is multiplied by 1 ± 2^-23 (at most one unit in the last
  place) with random signs, and the reference runs again. The root mean square of the change over several sign patterns
  is s, the effect of the inputs' own rounding: the square root of the sum of the squares of what each contributes.
* **Terms.** Honest kernels add up in some order, and every partial sum is rounded. That loses in proportion to the sum
  of the *absolute* contributions, r·s with a ratio r ≥ 1 that is 1 for elementwise computations and about 0.8·sqrt(n)
  for n terms alike. Perturbing only a share p of all numbers changes R by p times that sum on average, if p is so small
  that seldom two of the same sum are hit; a larger p gives less. So r is the largest ratio found over many shares. The
  share of elements that change at all tells n, the number of inputs that an element depends on.
* **A rerun in single precision** (``judge.check.single``): the reference again, with inputs that stay float32 and sums
  in order, as a kernel with a single accumulator adds them. Its error e contains what no perturbation of inputs shows,
  such as the rounding of an intermediate result that cancels later. Where the reference forces float64, the rerun shows
  less or nothing, and the other two parts stand alone.

An element may then be off by ``8·r·s + 8·e + 3·u·(sqrt(min(n, 65536)) + 2)·|R|``, where e is the root mean square over
the reruns. The third part is the growth of one-signed sums as in judge.check.tolerance; nobody keeps more than 65,536
terms in one accumulator. The factor 8 covers tensor cores, which truncate (as ``dot`` does), approximate functions
(``__expf``, ``rsqrtf``, ``__sinf``: 2 to 4 units in the last place where the exact ones have 1) and chance: s and e
come from few patterns. Half precision is off by 2^-11 of each term, 4096 times more than single precision.

These figures come from inputs that the judge draws for the purpose from the case's own data (several seeds), not from
those of the submission, so the bound is the same for every submission and is derived once for a case. It is kept in one
of two forms: relative to |R| where the elements' figures agree in that form (within a factor of 16 from the median to
the largest, for at least 64 elements), otherwise absolute. Either is the largest of all elements: too wide rather than
too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from judge.check.single import run_in_single
from records import dataclass

Doubles = npt.NDArray[np.float64]
#: The outputs by name, as a function of the inputs by name.
Computation = Callable[[Mapping[str, Any]], Mapping[str, Any]]

_UNIT = 2.0**-24
_STEP = 2.0**-23
_SLACK = 8.0
_ACCUMULATOR_TERMS = 65536
_TIGHT = 16.0
_FEW = 64
#: With more numbers than this in the inputs, fewer patterns are tried: each of them takes long.
_MANY = 1 << 22


@dataclass(frozen=True, slots=True)
class Allowance:
    """The error allowed for an output, before its own rounding: ``absolute + relative·|R|``."""

    absolute: float
    relative: float


def derive_allowances(compute: Computation, draws: Callable[[int], Mapping[str, Any]]) -> dict[str, Allowance]:
    """Returns the allowance of each output of ``compute``; ``draws`` returns the inputs of a seed."""
    inputs = draws(0)
    floats = {name: array for name, array in inputs.items() if _is_float_array(array)}
    count = sum(array.size for array in floats.values())
    seeds, patterns = (4, 2) if count <= _MANY else (2, 1)
    rng = np.random.default_rng(0)
    figures: dict[str, list[tuple[Doubles, Doubles, Doubles]]] = {}
    for seed in range(seeds):
        inputs = inputs if seed == 0 else draws(seed)
        for name, found in _figures(compute, inputs, patterns, rng).items():
            figures.setdefault(name, []).append(found)
    spread = _spread(compute, draws(0), count, rng) if count else {}
    return {name: _allowance(found, *spread.get(name, (1.0, 1.0))) for name, found in figures.items()}


def _figures(
    compute: Computation, inputs: Mapping[str, Any], patterns: int, rng: np.random.Generator
) -> dict[str, tuple[Doubles, Doubles, Doubles]]:
    """Returns |R|, s and e of every finite element of each output."""
    right = _doubles(compute(inputs))
    changes = {name: np.zeros_like(values) for name, values in right.items()}
    errors = {name: np.zeros_like(values) for name, values in right.items()}
    for _ in range(patterns):
        perturbed = _perturbed(inputs, 1.0, rng)
        exact = _doubles(compute(perturbed))
        single = run_in_single(compute, perturbed)
        # What the rerun is off by is told from an exact run on the same float32 numbers.
        rounded = _doubles(compute(_as_single(perturbed))) if single is not None else {}
        for name, values in right.items():
            with np.errstate(invalid="ignore", over="ignore"):
                changes[name] += (exact[name] - values) ** 2 / patterns
                if single is not None:
                    errors[name] += (np.asarray(single[name], np.float64) - rounded[name]) ** 2 / patterns
    found = {}
    for name, values in right.items():
        change, error = np.sqrt(changes[name]), np.sqrt(errors[name])
        # Single precision overflows where double precision does not: no kernel can do better there.
        error = np.where(np.isfinite(error), error, 0.0)
        finite = np.isfinite(values) & np.isfinite(change)
        found[name] = (np.abs(values[finite]), change[finite], error[finite])
    return found


def _spread(
    compute: Computation, inputs: Mapping[str, Any], count: int, rng: np.random.Generator
) -> dict[str, tuple[float, float]]:
    """Returns for each output the ratio r of summed to squared contributions, and the number n of contributions."""
    right = _doubles(compute(inputs))
    whole = _doubles(compute(_perturbed(inputs, 1.0, rng)))
    full = {name: _mean_change(whole[name], values) for name, values in right.items()}
    ratios, numbers = dict.fromkeys(right, 1.0), dict.fromkeys(right, 1.0)
    for share in _shares(count):
        changed = _doubles(compute(_perturbed(inputs, share, rng)))
        for name, values in right.items():
            if full[name] == 0.0:
                continue
            # The mean of absolute values of a normal distribution is 0.8 of its root mean square.
            ratios[name] = max(ratios[name], _mean_change(changed[name], values) / share / (full[name] / 0.8))
            hit = float(np.mean(changed[name] != values)) if values.size else 0.0
            hit = min(hit, 1 - 1 / (2 * values.size + 2))
            numbers[name] = max(numbers[name], math.log1p(-hit) / math.log1p(-share))
    # No sum has a larger ratio than that of as many terms alike.
    return {name: (min(ratios[name], math.sqrt(count)), min(numbers[name], count)) for name in right}


def _shares(count: int) -> Iterator[float]:
    steps = 8 if count <= _MANY else 64
    share = 1.0 / steps
    while share * count >= 0.5:
        yield share
        share /= steps


def _allowance(found: Sequence[tuple[Doubles, Doubles, Doubles]], ratio: float, number: float) -> Allowance:
    size, change, error = (np.concatenate([part[i] for part in found]) for i in range(3))
    growth = 3 * _UNIT * (math.sqrt(min(number, _ACCUMULATOR_TERMS)) + 2)
    figure = _SLACK * (ratio * change + error)
    if figure.size == 0 or not figure.any():
        return Allowance(0.0, growth)
    some = size > 0
    relative = figure[some] / size[some]
    # An element that is exactly zero, and stays so, has no relative error.
    if relative.size >= _FEW and not figure[~some].any() and relative.max() <= _TIGHT * np.median(relative):
        return Allowance(0.0, float(relative.max()) + growth)
    return Allowance(float(figure.max()), growth)


def _mean_change(changed: Doubles, values: Doubles) -> float:
    with np.errstate(invalid="ignore"):
        change = np.abs(changed - values)
    change = change[np.isfinite(change)]
    return float(change.mean()) if change.size else 0.0


def _perturbed(inputs: Mapping[str, Any], share: float, rng: np.random.Generator) -> dict[str, Any]:
    """Returns the inputs with a random share of all floating-point numbers a step up or down, in float64."""
    perturbed = dict(inputs)
    for name, array in inputs.items():
        if not _is_float_array(array):
            continue
        factors = 1.0 + np.where(rng.random(array.shape, np.float32) < 0.5, -_STEP, _STEP)
        if share < 1.0:
            factors[rng.random(array.shape) >= share] = 1.0
        perturbed[name] = array.astype(np.float64) * factors
    return perturbed


def _as_single(inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value.astype(np.float32).astype(np.float64) if _is_float_array(value) else value
        for name, value in inputs.items()
    }


def _is_float_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and np.issubdtype(value.dtype, np.floating)


def _doubles(outputs: Mapping[str, Any]) -> dict[str, Doubles]:
    return {name: np.asarray(values, np.float64) for name, values in outputs.items()}
