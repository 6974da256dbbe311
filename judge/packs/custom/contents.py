"""Reads a user's text for the contents of one input.

The text is its values (``1 2 3``, in C order) or a distribution (``uniform -1 1``); see ``DISTRIBUTION_FORMS``.
Contents that a pack restricts stay restricted: whole numbers lie within the declared range, sorted data ascends.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from judge.packs import sizes
from judge.packs.data import distributions
from judge.packs.data.distributions import Distribution
from judge.packs.data.storage import stored_type
from judge.packs.form.argument import Argument
from judge.packs.form.expressions import Number
from judge.packs.pack import Case
from judge.wire.elements import Element
from judge.wire.recipe import MAX_CHOICES

#: The most values of one input that may be typed.
MAX_VALUES = 4096
DISTRIBUTION_FORMS = (
    "uniform LOW HIGH",
    "normal MEAN SD",
    "integers LOW HIGH",
    "constant VALUE",
    "zeros",
    "sorted uniform LOW HIGH",
    "sorted integers LOW HIGH",
    "sparse SHARE uniform LOW HIGH",
    "choice VALUE VALUE ...",
    "one-hot",
    "permutation",
)
_SEPARATORS = re.compile(r"[\s,;\[\](){}]+")


def read_contents(
    argument: Argument, declared: Distribution, text: str, case: Case
) -> Distribution | tuple[Number, ...]:
    """Returns the distribution or the values that an input's text means. Raises ValueError."""
    if text == distribution_in_words(declared):
        return declared
    words = [word for word in _SEPARATORS.split(text) if word]
    if words and words[0][0].isalpha() and words[0].lower() not in ("nan", "inf", "infinity"):
        made = _distribution([word.lower() for word in words])
        _require_allowed(argument, declared, made)
        return made
    count = sizes.element_count(case, argument)
    if count > MAX_VALUES:
        raise ValueError(f"{argument.name} has {count:,} elements, and at most {MAX_VALUES:,} values can be typed")
    values = tuple(read_number(word) for word in words)
    if len(values) != count:
        shape = shape_in_words(sizes.shape(case, argument))
        raise ValueError(f"{len(values):,} value{'' if len(values) == 1 else 's'} for {count:,} elements ({shape})")
    _require_representable(argument.element, values)
    _require_like(declared, values, case, sizes.shape(case, argument)[-1])
    return values


def read_number(word: str) -> Number:
    """Returns the finite number that a word means, whole if it is written so. Raises ValueError."""
    try:
        value = float(word)
    except ValueError:
        raise ValueError(f"{word[:40]!r} is not a number") from None
    if not math.isfinite(value):
        raise ValueError(f"{word[:40]} cannot be used here: write a finite number")
    try:
        return int(word)
    except ValueError:
        return value


def _distribution(words: Sequence[str]) -> Distribution:
    """Returns the distribution that the words name. Raises ValueError."""
    name, rest = words[0], words[1:]
    if name == "sorted":
        of = _distribution(rest) if rest else None
        if not isinstance(of, distributions.Uniform | distributions.Integers):
            raise ValueError("write sorted uniform LOW HIGH or sorted integers LOW HIGH")
        return distributions.Sorted(of)
    if name == "sparse":
        of = _distribution(rest[1:]) if len(rest) > 1 else None
        share = read_number(rest[0]) if rest else 0
        if not isinstance(of, distributions.Drawn) or not 0 < share < 1:
            raise ValueError("write sparse SHARE uniform LOW HIGH, with the share of zeros between 0 and 1")
        return distributions.Sparse(float(share), of)
    numbers = [float(read_number(word)) for word in rest]
    match name, numbers:
        case "uniform", [low, high] if low <= high:
            return distributions.Uniform(low, high)
        case "normal", [mean, sd] if sd > 0:
            return distributions.Normal(mean, sd)
        case "integers", [low, high] if low <= high and low == int(low) and high == int(high):
            return distributions.Integers(low, high)
        case "constant", [value]:
            return distributions.Constant(value)
        case "zeros", []:
            return distributions.Constant(0.0)
        case "choice", [_, _, *_] if len(numbers) <= MAX_CHOICES:
            return distributions.Choice(tuple(numbers))
        case "one-hot", []:
            return distributions.OneHot()
        case "permutation", []:
            return distributions.Permutation()
    form = next((form for form in DISTRIBUTION_FORMS if form.split()[0] == name), "")
    raise ValueError(f"write {form}" if form else f"{name[:40]!r} is none of {', '.join(DISTRIBUTION_FORMS)}")


def _require_allowed(argument: Argument, declared: Distribution, made: Distribution) -> None:
    """Raises ValueError unless an input may be filled with this distribution."""
    if made.floats_only and not argument.element.facts.is_float:
        raise ValueError(f"{argument.c_type} takes whole numbers: write integers LOW HIGH")
    if isinstance(made, distributions.Permutation) and argument.element.facts.is_float:
        raise ValueError(f"a permutation has whole numbers, and {argument.name} is {argument.c_type}")
    if isinstance(
        declared, distributions.Sorted | distributions.OneHot | distributions.Permutation | distributions.Offsets
    ) and not isinstance(made, type(declared)):
        raise ValueError(f"{argument.name} must be as in {distribution_in_words(declared)}, or typed")
    ends = _ends(made)
    _require_representable(argument.element, ends)
    if isinstance(declared, distributions.Choice) and not {*ends} <= {*declared.values}:
        raise ValueError(f"{argument.name} holds only {', '.join(f'{value:g}' for value in declared.values)}")
    limits = _whole_limits(declared)
    if limits is not None:
        low, high = limits
        if made.floats_only or not ends or min(ends) < low or max(ends) > high:
            raise ValueError(f"{argument.name} holds whole numbers {restriction(declared)}")


def _ends(made: Distribution) -> tuple[float, ...]:
    """Returns the ends of what a distribution makes, as far as it has any."""
    match made:
        case distributions.Uniform(low, high) | distributions.Integers(low, high):
            return (low, high)
        case distributions.Constant(value):
            return (value,)
        case distributions.Choice(values):
            return values
        case distributions.Sorted(of):
            return _ends(of)
        case distributions.Sparse(_, of):
            return (0.0, *_ends(of))
        case distributions.OneHot():
            return (0.0, 1.0)
    return ()


def _whole_limits(declared: Distribution) -> tuple[float, float] | None:
    """Returns the range of declared whole numbers, which may be indices or keep sums exact; None for others."""
    match declared:
        case distributions.Integers(low, high) | distributions.Sorted(distributions.Integers(low, high)):
            return low, high
        case distributions.Sparse(_, distributions.Integers(low, high)):
            return min(low, 0.0), max(high, 0.0)
    return None


def _require_representable(element: Element, values: Sequence[Number]) -> None:
    """Raises ValueError for a value that the element type cannot hold."""
    if element is Element.BOOL:
        wrong = [value for value in values if value not in (0, 1)]
        if wrong:
            raise ValueError(f"{wrong[0]} is not a bool: write 0 or 1")
    elif element.facts.is_float:
        largest = 3.4028234663852886e38 if element.facts.narrow else float(np.finfo(stored_type(element)).max)
        if wrong := [value for value in values if abs(value) > largest]:
            raise ValueError(f"{wrong[0]:g} is larger than the type can hold")
    else:
        facts = np.iinfo(stored_type(element))
        for value in values:
            if value != int(value):
                raise ValueError(f"{value:g} is not a whole number")
            if not facts.min <= value <= facts.max:
                raise ValueError(f"{value} does not fit the type, which holds {facts.min} to {facts.max}")


def _require_like(declared: Distribution, values: Sequence[Number], case: Case, width: int) -> None:
    """Raises ValueError where typed values break what the pack says of an input."""
    limits = _whole_limits(declared)
    if limits is not None:
        wrong = [value for value in values if value != int(value) or not limits[0] <= value <= limits[1]]
        if wrong:
            raise ValueError(f"{wrong[0]:g} is not a whole number {restriction(declared)}")
    match declared:
        case distributions.Sorted() if any(after < before for before, after in pairwise(values)):
            raise ValueError("the values must ascend")
        case distributions.Choice(allowed) if wrong := [value for value in values if value not in allowed]:
            raise ValueError(f"{wrong[0]:g} is none of {', '.join(f'{value:g}' for value in allowed)}")
        case distributions.Permutation() if sorted(values) != list(range(len(values))):
            raise ValueError(f"the values must be the numbers from 0 to {len(values) - 1}, each once")
        case distributions.OneHot() if any(
            sorted(values[at : at + width]) != [0] * (width - 1) + [1] for at in range(0, len(values), width)
        ):
            raise ValueError(f"each row of {width} must hold a single 1, and zeros")
        case distributions.Offsets(total):
            end = total.evaluate_int(case.variables)
            ascend = all(before <= after for before, after in pairwise(values))
            if not ascend or values[0] != 0 or values[-1] != end:
                raise ValueError(f"the values must ascend from 0 to {end}")


def restriction(declared: Distribution) -> str:
    """Returns the range of declared whole numbers, in words; an empty string for others."""
    limits = _whole_limits(declared)
    return "" if limits is None else f"from {limits[0]:.0f} to {limits[1]:.0f}"


def distribution_in_words(declared: Distribution) -> str:
    """Returns a distribution as a user would write it."""
    match declared:
        case distributions.Uniform(low, high):
            return f"uniform {low:g} {high:g}"
        case distributions.Normal(mean, sd):
            return f"normal {mean:g} {sd:g}"
        case distributions.Integers(low, high):
            return f"integers {low:.0f} {high:.0f}"
        case distributions.Constant(value):
            return f"constant {value:g}"
        case distributions.Sorted(of):
            return f"sorted {distribution_in_words(of)}"
        case distributions.Sparse(share, of):
            return f"sparse {share:g} {distribution_in_words(of)}"
        case distributions.Choice(values):
            return " ".join(["choice", *(f"{value:g}" for value in values)])
        case distributions.OneHot():
            return "one-hot"
        case distributions.Permutation():
            return "permutation"
        case distributions.Offsets(total):
            return f"offsets {total.text}"
        case distributions.FromFile(path):
            return path.name


def shape_in_words(shape: Sequence[int]) -> str:
    """Returns a shape as ``3 × 4``."""
    return " × ".join(str(extent) for extent in shape)
