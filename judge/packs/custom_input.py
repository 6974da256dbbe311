"""Makes a case of what a user chose: sizes, parameters and contents, as texts by name, within the pack's limits.

What is not given is as in the pack's first public case. An input's text is either its values (``1 2 3``, in C order)
or a distribution (``uniform -1 1``); see ``DISTRIBUTION_FORMS``. Contents that a pack restricts stay restricted: whole
numbers lie within the declared range, sorted data ascends. No custom case is larger than the largest case that
submissions are judged on.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from judge.judgement import DeviceKind
from judge.packs import sizes
from judge.packs.argument import Argument
from judge.packs.distributions import (
    Choice,
    Constant,
    Distribution,
    FromFile,
    Integers,
    Normal,
    Offsets,
    OneHot,
    Permutation,
    Sorted,
    Sparse,
    Uniform,
)
from judge.packs.expressions import ExpressionError, Number
from judge.packs.pack import Axis, Case, Pack, Parameter
from judge.packs.storage import stored_type
from judge.wire.elements import Element
from judge.wire.recipe import MAX_CHOICES

CUSTOM_ID = "your-input"
#: So many values of one input may be typed.
MAX_VALUES = 4096
#: So long may one text be, in characters.
MAX_TEXT = 64 << 10
DISTRIBUTION_FORMS = (
    "uniform LOW HIGH", "normal MEAN SD", "integers LOW HIGH", "constant VALUE", "zeros", "sorted uniform LOW HIGH",
    "sorted integers LOW HIGH", "sparse SHARE uniform LOW HIGH", "choice VALUE VALUE ...", "one-hot", "permutation",
)  # fmt: skip
_SEPARATORS = re.compile(r"[\s,;\[\](){}]+")


class CustomInputError(ValueError):
    """Texts that make no case. ``fields`` says what is wrong with each, and what to write instead."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        self.fields = dict(fields)
        super().__init__("; ".join(f"{name}: {told}" for name, told in fields.items()))


@dataclass(frozen=True, slots=True)
class CustomField:
    """What a user may set: its name, what it is, what it is unless set, and what it may be."""

    name: str
    kind: str
    default: str
    allowed: str
    description: str


def custom_fields(pack: Pack) -> tuple[CustomField, ...]:
    """Returns what may be set of a challenge's input: sizes, parameters, then the contents of inputs."""
    first = _first_case(pack)
    fields = [
        CustomField(axis.name, "size", str(first.axes[axis.name]), _axis_range(axis), axis.description)
        for axis in pack.axes
    ]
    fields += [
        CustomField(
            each.name, "parameter", f"{first.parameters[each.name]:g}", _parameter_range(each), each.description
        )
        for each in pack.parameters
        if each.shown
    ]
    for argument in pack.inputs:
        declared = first.distribution(argument)
        if declared is not None and not isinstance(declared, FromFile):
            told = _in_words(declared)
            fields.append(CustomField(argument.name, "contents", told, _restriction(declared), argument.description))
    return tuple(fields)


def with_custom_case(pack: Pack, given: Mapping[str, str], kind: DeviceKind) -> Pack:
    """Returns the pack with the chosen case alone, and nothing to time. Raises CustomInputError."""
    return replace(pack, cases=(custom_case(pack, given, kind),), benchmarks=())


def custom_case(pack: Pack, given: Mapping[str, str], kind: DeviceKind) -> Case:
    """Returns the case that the texts describe, for a kind of device. Raises CustomInputError."""
    fields = {each.name: each for each in custom_fields(pack)}
    problems = {name: f"{pack.slug} has no such input; there are {_listed(fields)}" for name in given.keys() - fields}
    made_together = problems.keys() & {argument.name for argument in pack.inputs}
    problems |= dict.fromkeys(made_together, "the challenge makes this together with other inputs; it cannot be chosen")
    for name in made_together & _file_inputs(pack).keys():
        problems[name] = "this comes from a file of the challenge; it cannot be chosen"
    texts = {name: text.strip() for name, text in given.items() if name in fields and text.strip()}
    problems |= {name: f"this is longer than {MAX_TEXT:,} characters" for name in texts if len(texts[name]) > MAX_TEXT}
    if problems:
        raise CustomInputError(problems)
    first = _first_case(pack)
    axes, parameters = dict(first.axes), dict(first.parameters)
    for axis in pack.axes:
        if axis.name in texts:
            axes[axis.name] = _size(axis, texts[axis.name], problems)
    for parameter in pack.parameters:
        if parameter.name in texts:
            parameters[parameter.name] = _parameter(parameter, texts[parameter.name], problems)
    if problems:
        raise CustomInputError(problems)
    case = Case(CUSTOM_ID, "custom", axes, parameters, dict(first.distributions), (kind,), "")
    _require_constraints(pack, case, texts)
    _require_size(pack, case, kind, texts)
    _require_files(pack, case, texts)
    typed: dict[str, tuple[Number, ...]] = {}
    chosen = dict(case.distributions)
    for argument in pack.inputs:
        if argument.name not in texts:
            continue
        declared = first.distribution(argument)
        assert declared is not None, "fields has none without"
        try:
            contents = _contents(argument, declared, texts[argument.name], case)
        except ValueError as error:
            problems[argument.name] = str(error)
            continue
        if isinstance(contents, tuple):
            typed[argument.name] = contents
        else:
            chosen[argument.name] = contents
    if problems:
        raise CustomInputError(problems)
    return replace(case, distributions=chosen, typed=typed)


def _first_case(pack: Pack) -> Case:
    """Returns the public case that everything not given is taken from; every pack has one."""
    return next(case for case in pack.cases if case.group == "sample")


def _size(axis: Axis, text: str, problems: dict[str, str]) -> int:
    try:
        size = int(text.replace("_", "").replace(",", ""))
    except ValueError:
        problems[axis.name] = f"{text[:40]!r} is not a whole number"
        return axis.min
    if not axis.min <= size <= axis.max or size % axis.multiple_of:
        problems[axis.name] = f"{f'{size:,}'[:40]} is not {_axis_range(axis)}"
    return size


def _axis_range(axis: Axis) -> str:
    multiple = f", a multiple of {axis.multiple_of}" if axis.multiple_of > 1 else ""
    return f"from {axis.min:,} to {axis.max:,}{multiple}"


def _parameter(parameter: Parameter, text: str, problems: dict[str, str]) -> Number:
    whole = isinstance(parameter.default, int)
    try:
        value = _number(text)
    except ValueError as error:
        problems[parameter.name] = str(error)
        return parameter.default
    low, high = parameter.min, parameter.max
    if (low is not None and value < low) or (high is not None and value > high):
        problems[parameter.name] = f"{value:g} is not {_parameter_range(parameter)}"
    elif whole and value != int(value):
        problems[parameter.name] = f"{value:g} is not a whole number"
    return int(value) if whole else float(value)


def _parameter_range(parameter: Parameter) -> str:
    low, high = parameter.min, parameter.max
    if low is not None and high is not None:
        return f"from {low:g} to {high:g}"
    if low is not None:
        return f"{low:g} or more"
    return f"{high:g} or less" if high is not None else "any number"


def _require_constraints(pack: Pack, case: Case, texts: Mapping[str, str]) -> None:
    """Raises CustomInputError at the fields of a constraint that does not hold."""
    for constraint in pack.constraints:
        try:
            holds = constraint.holds(case.variables)
        except ExpressionError:
            holds = False
        if not holds:
            at = [name for name in constraint.names if name in texts] or sorted(constraint.names)
            values = ", ".join(f"{name} = {case.variables[name]}" for name in sorted(constraint.names))
            raise CustomInputError(dict.fromkeys(at, f"the challenge wants {constraint.text}, and here {values}"))


def _require_size(pack: Pack, case: Case, kind: DeviceKind, texts: Mapping[str, str]) -> None:
    """Raises CustomInputError if the case is larger, or more work, than every case that is judged on the device."""
    judged = pack.cases_for(kind) or pack.cases
    chosen = [axis.name for axis in pack.axes if axis.name in texts]
    at = max(chosen, key=lambda name: case.axes[name], default=pack.axes[0].name if pack.axes else "")
    most = max(_argument_bytes(pack, each) for each in judged)
    if (size := _argument_bytes(pack, case)) > most:
        told = f"the arguments would take {size:,} bytes, and those of the largest case {most:,}: choose smaller sizes"
        raise CustomInputError({at: told})
    work = sizes.case_flops(pack, case) or 0.0
    if work > (allowed := max(sizes.case_flops(pack, each) or 0.0 for each in judged)):
        told = f"this is {work:,.0f} operations, and the largest case has {allowed:,.0f}: choose smaller sizes"
        raise CustomInputError({at: told})


def _require_files(pack: Pack, case: Case, texts: Mapping[str, str]) -> None:
    """Raises CustomInputError at the chosen sizes if a file of the challenge does not have so much."""
    arguments = {argument.name: argument for argument in pack.inputs}
    for name, data in _file_inputs(pack).items():
        if not data.holds(shape := sizes.shape(case, arguments[name])):
            told = f"{name} comes from a file with {_times(data.shape)} elements, and {_times(shape)} would be needed"
            names = set[str]().union(*(extent.names for extent in arguments[name].shape))
            raise CustomInputError(dict.fromkeys([at for at in texts if at in names], told))


def _file_inputs(pack: Pack) -> dict[str, FromFile]:
    """Returns the inputs that come from files where a user chooses the sizes."""
    first = _first_case(pack)
    declared = ((argument.name, first.distribution(argument)) for argument in pack.inputs)
    return {name: data for name, data in declared if isinstance(data, FromFile)}


def _argument_bytes(pack: Pack, case: Case) -> int:
    return sum(sizes.buffer_bytes(case, argument) for argument in pack.arguments)


def _contents(argument: Argument, declared: Distribution, text: str, case: Case) -> Distribution | tuple[Number, ...]:
    """Returns the distribution or the values that an input's text means. Raises ValueError."""
    if text == _in_words(declared):
        return declared
    words = [word for word in _SEPARATORS.split(text) if word]
    if words and words[0][0].isalpha() and words[0].lower() not in ("nan", "inf", "infinity"):
        made = _distribution([word.lower() for word in words])
        _require_allowed(argument, declared, made)
        return made
    count = sizes.element_count(case, argument)
    if count > MAX_VALUES:
        raise ValueError(f"{argument.name} has {count:,} elements, and at most {MAX_VALUES:,} values can be typed")
    values = tuple(_number(word) for word in words)
    if len(values) != count:
        shape = _times(sizes.shape(case, argument))
        raise ValueError(f"{len(values):,} value{'' if len(values) == 1 else 's'} for {count:,} elements ({shape})")
    _require_representable(argument.element, values)
    _require_like(declared, values, case, sizes.shape(case, argument)[-1])
    return values


def _number(word: str) -> Number:
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
        if not isinstance(of, Uniform | Integers):
            raise ValueError("write sorted uniform LOW HIGH or sorted integers LOW HIGH")
        return Sorted(of)
    if name == "sparse":
        of = _distribution(rest[1:]) if len(rest) > 1 else None
        share = _number(rest[0]) if rest else 0
        if not isinstance(of, Uniform | Normal | Integers) or not 0 < share < 1:
            raise ValueError("write sparse SHARE uniform LOW HIGH, with the share of zeros between 0 and 1")
        return Sparse(float(share), of)
    numbers = [float(_number(word)) for word in rest]
    match name, numbers:
        case "uniform", [low, high] if low <= high:
            return Uniform(low, high)
        case "normal", [mean, sd] if sd > 0:
            return Normal(mean, sd)
        case "integers", [low, high] if low <= high and low == int(low) and high == int(high):
            return Integers(low, high)
        case "constant", [value]:
            return Constant(value)
        case "zeros", []:
            return Constant(0.0)
        case "choice", [_, _, *_] if len(numbers) <= MAX_CHOICES:
            return Choice(tuple(numbers))
        case "one-hot", []:
            return OneHot()
        case "permutation", []:
            return Permutation()
    form = next((form for form in DISTRIBUTION_FORMS if form.split()[0] == name), "")
    raise ValueError(f"write {form}" if form else f"{name[:40]!r} is none of {', '.join(DISTRIBUTION_FORMS)}")


def _require_allowed(argument: Argument, declared: Distribution, made: Distribution) -> None:
    """Raises ValueError unless an input may be filled with this distribution."""
    if made.floats_only and not argument.element.facts.is_float:
        raise ValueError(f"{argument.c_type} takes whole numbers: write integers LOW HIGH")
    if isinstance(made, Permutation) and argument.element.facts.is_float:
        raise ValueError(f"a permutation has whole numbers, and {argument.name} is {argument.c_type}")
    if isinstance(declared, Sorted | OneHot | Permutation | Offsets) and not isinstance(made, type(declared)):
        raise ValueError(f"{argument.name} must be as in {_in_words(declared)}, or typed")
    ends = _ends(made)
    _require_representable(argument.element, ends)
    if isinstance(declared, Choice) and not {*ends} <= {*declared.values}:
        raise ValueError(f"{argument.name} holds only {_listed(f'{value:g}' for value in declared.values)}")
    limits = _whole_limits(declared)
    if limits is not None:
        low, high = limits
        if made.floats_only or not ends or min(ends) < low or max(ends) > high:
            raise ValueError(f"{argument.name} holds whole numbers {_restriction(declared)}")


def _ends(made: Distribution) -> tuple[float, ...]:
    """Returns the ends of what a distribution makes, as far as it has any."""
    match made:
        case Uniform(low, high) | Integers(low, high):
            return (low, high)
        case Constant(value):
            return (value,)
        case Choice(values):
            return values
        case Sorted(of):
            return _ends(of)
        case Sparse(_, of):
            return (0.0, *_ends(of))
        case OneHot():
            return (0.0, 1.0)
    return ()


def _whole_limits(declared: Distribution) -> tuple[float, float] | None:
    """Returns the range of declared whole numbers, which may be indices or keep sums exact; None for others."""
    match declared:
        case Integers(low, high) | Sorted(Integers(low, high)):
            return low, high
        case Sparse(_, Integers(low, high)):
            return min(low, 0.0), max(high, 0.0)
    return None


def _require_representable(element: Element, values: Sequence[Number]) -> None:
    """Raises ValueError for a value that the element type cannot hold."""
    if element is Element.BOOL:
        wrong = [value for value in values if value not in (0, 1)]
        if wrong:
            raise ValueError(f"{wrong[0]} is no bool: write 0 or 1")
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
                raise ValueError(f"{value} is not from {facts.min} to {facts.max}, which the type can hold")


def _require_like(declared: Distribution, values: Sequence[Number], case: Case, width: int) -> None:
    """Raises ValueError where typed values break what the pack says of an input."""
    limits = _whole_limits(declared)
    if limits is not None:
        wrong = [value for value in values if value != int(value) or not limits[0] <= value <= limits[1]]
        if wrong:
            raise ValueError(f"{wrong[0]:g} is no whole number {_restriction(declared)}")
    match declared:
        case Sorted() if any(after < before for before, after in pairwise(values)):
            raise ValueError("the values must ascend")
        case Choice(allowed) if wrong := [value for value in values if value not in allowed]:
            raise ValueError(f"{wrong[0]:g} is none of {_listed(f'{value:g}' for value in allowed)}")
        case Permutation() if sorted(values) != list(range(len(values))):
            raise ValueError(f"the values must be the numbers from 0 to {len(values) - 1}, each once")
        case OneHot() if any(
            sorted(values[at : at + width]) != [0] * (width - 1) + [1] for at in range(0, len(values), width)
        ):
            raise ValueError(f"each row of {width} must hold a single 1, and zeros")
        case Offsets(total):
            end = total.evaluate_int(case.variables)
            ascend = all(before <= after for before, after in pairwise(values))
            if not ascend or values[0] != 0 or values[-1] != end:
                raise ValueError(f"the values must ascend from 0 to {end}")


def _restriction(declared: Distribution) -> str:
    limits = _whole_limits(declared)
    return "" if limits is None else f"from {limits[0]:.0f} to {limits[1]:.0f}"


def _in_words(declared: Distribution) -> str:
    """Returns a distribution as a user would write it."""
    match declared:
        case Uniform(low, high):
            return f"uniform {low:g} {high:g}"
        case Normal(mean, sd):
            return f"normal {mean:g} {sd:g}"
        case Integers(low, high):
            return f"integers {low:.0f} {high:.0f}"
        case Constant(value):
            return f"constant {value:g}"
        case Sorted(of):
            return f"sorted {_in_words(of)}"
        case Sparse(share, of):
            return f"sparse {share:g} {_in_words(of)}"
        case Choice(values):
            return " ".join(["choice", *(f"{value:g}" for value in values)])
        case OneHot():
            return "one-hot"
        case Permutation():
            return "permutation"
        case Offsets(total):
            return f"offsets {total.text}"
        case FromFile(path):
            return path.name


def _times(shape: Sequence[int]) -> str:
    return " × ".join(str(extent) for extent in shape)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
