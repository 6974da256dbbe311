"""Makes a case of what a user chose: sizes, parameters and contents, as texts by name, within the pack's limits.

Contents that come from a file of the challenge cannot be chosen, and no size may need more than a file has.
What is not given is as in the pack's first public case. ``custom_contents`` reads what an input shall hold. No custom
case is larger than the largest case that submissions are judged on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from judge.judgement import DeviceKind
from judge.packs import sizes
from judge.packs.custom.contents import distribution_in_words, read_contents, read_number, restriction, shape_in_words
from judge.packs.data.distributions import FromFile
from judge.packs.form.expressions import ExpressionError, Number
from judge.packs.pack import Axis, Case, Pack, Parameter
from records import dataclass

CUSTOM_ID = "your-input"
#: So long may one text be, in characters.
MAX_TEXT = 64 << 10


class CustomInputError(ValueError):
    """Texts that make no case. ``fields`` says what is wrong with each, and what to write instead."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        self.fields = dict(fields)
        super().__init__("; ".join(f"{name}: {told}" for name, told in fields.items()))


@dataclass(frozen=True, slots=True)
class CustomField:
    """A value that a user may set: its name, its kind, its default and its range."""

    name: str
    kind: str
    default: str
    allowed: str
    description: str


def custom_fields(pack: Pack) -> tuple[CustomField, ...]:
    """Returns the fields of a challenge's input that a user may set: sizes, parameters, then contents of inputs."""
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
            told = distribution_in_words(declared)
            fields.append(CustomField(argument.name, "contents", told, restriction(declared), argument.description))
    return tuple(fields)


def with_custom_case(pack: Pack, given: Mapping[str, str], kind: DeviceKind) -> Pack:
    """Returns the pack with the chosen case alone, which is its benchmark, too. Raises CustomInputError."""
    chosen = custom_case(pack, given, kind)
    return replace(pack, cases=(chosen,), benchmarks=(replace(chosen, group="benchmark"),))


def custom_case(pack: Pack, given: Mapping[str, str], kind: DeviceKind) -> Case:
    """Returns the case that the texts describe, for a kind of device. Raises CustomInputError."""
    first = _first_case(pack)
    fields = {each.name: each for each in custom_fields(pack)}
    problems = {name: f"{pack.slug} has no such input; there are {', '.join(fields)}" for name in given.keys() - fields}
    made_together = problems.keys() & {argument.name for argument in pack.inputs}
    problems |= dict.fromkeys(made_together, "the challenge makes this together with other inputs; it cannot be chosen")
    for name in made_together & _file_inputs(pack, first).keys():
        problems[name] = "this comes from a file of the challenge; it cannot be chosen"
    texts = {name: text.strip() for name, text in given.items() if name in fields and text.strip()}
    problems |= {name: f"this is longer than {MAX_TEXT:,} characters" for name in texts if len(texts[name]) > MAX_TEXT}
    if problems:
        raise CustomInputError(problems)
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
    if too_small := _files_too_small(pack, case, texts.keys()):
        raise CustomInputError(too_small)
    typed: dict[str, tuple[Number, ...]] = {}
    chosen = dict(case.distributions)
    for argument in pack.inputs:
        if argument.name not in texts:
            continue
        declared = first.distribution(argument)
        assert declared is not None, "fields has none without"
        try:
            contents = read_contents(argument, declared, texts[argument.name], case)
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
        problems[axis.name] = f"must be {_axis_range(axis)}, not {f'{size:,}'[:40]}"
    return size


def _axis_range(axis: Axis) -> str:
    multiple = f", a multiple of {axis.multiple_of}" if axis.multiple_of > 1 else ""
    return f"from {axis.min:,} to {axis.max:,}{multiple}"


def _parameter(parameter: Parameter, text: str, problems: dict[str, str]) -> Number:
    whole = isinstance(parameter.default, int)
    try:
        value = read_number(text)
    except ValueError as error:
        problems[parameter.name] = str(error)
        return parameter.default
    low, high = parameter.min, parameter.max
    if (low is not None and value < low) or (high is not None and value > high):
        problems[parameter.name] = f"must be {_parameter_range(parameter)}, not {value:g}"
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


def _argument_bytes(pack: Pack, case: Case) -> int:
    return sum(sizes.buffer_bytes(case, argument) for argument in pack.arguments)


def _file_inputs(pack: Pack, case: Case) -> dict[str, FromFile]:
    """Returns the inputs of a case that come from files, by name."""
    declared = ((argument.name, case.distribution(argument)) for argument in pack.inputs)
    return {name: data for name, data in declared if isinstance(data, FromFile)}


def _files_too_small(pack: Pack, case: Case, chosen: Collection[str]) -> dict[str, str]:
    """Returns, by the chosen sizes that are to blame, what a file of the challenge does not have for the case."""
    arguments = {argument.name: argument for argument in pack.inputs}
    for name, data in _file_inputs(pack, case).items():
        if not data.holds(shape := sizes.shape(case, arguments[name])):
            has, needs = shape_in_words(data.shape), shape_in_words(shape)
            told = f"{name} comes from a file with {has} elements, and {needs} would be needed"
            names = set[str]().union(*(extent.names for extent in arguments[name].shape))
            return dict.fromkeys([at for at in chosen if at in names] or sorted(names), told)
    return {}
