"""Compares what a pack allows with its cases: sizes, parameters, constraints met with equality, large outputs.

A kernel that fails only where no case goes is accepted. So an axis has a case on the emulator at each size at which
kernels go wrong and that is cheap there, its largest one included. What is too dear for the emulator is reached on some
device, by a case or a benchmark; from half of the largest on it counts as reached.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

from judge.packs.form.argument import Argument
from judge.packs.form.expressions import Constraint, Expression, ExpressionError, Number
from judge.packs.pack import Axis, Case, Pack, Parameter
from judge.verify.coverage import MAX_ELEMENTS
from judge.verify.findings import Finding, error, note, warning
from records import dataclass

#: More than the threads of a block, and more than the blocks of a grid in y or z.
_LIMITS = (1025, 65_537)
#: More than 1024 blocks of 1024 threads take, whose results one more block combines.
_TWO_LEVELS = 1_048_577
#: Beyond what a kernel keeps of a row in one block: 58,112 floats in 227 KiB of shared memory, 65,536 in registers.
_WHOLE = 131_072
#: More elements of an output than 256 blocks of 256 threads, or a number of 16 bits, count.
_GRID = 65_537
#: The sizes along an axis from which a case with ``_GRID`` elements is put together.
_GRID_SIZES = (3, 17, 65, 130, 259, 1025, 4099, 21_847)
#: What the emulator judges in a moment.
_CHEAP_ELEMENTS = 1_500_000
_CHEAP_OPERATIONS = 20e6
#: Sizes and parameters that change together where a constraint ties them.
_TIED = 2

Variables = Mapping[str, Number]


def check_reach(pack: Pack) -> Iterator[Finding]:
    """Yields each axis, parameter and constraint whose end no case reaches; a note where the pack says why."""
    file = pack.directory / "challenge.toml"
    found = {name: (key, message) for name, key, message in _unreached(pack)}
    for name, (key, message) in found.items():
        reason = pack.unreached.get(name)
        if reason is None:
            yield error("reach", file, key, message)
        else:
            yield note("reach", file, key, f"{message}, but: {reason}")
    for name in pack.unreached:
        if name not in found:
            yield warning("reach-declared", file, f"unreached.{name}", "is reached, or is not stated; remove it")


def _unreached(pack: Pack) -> Iterator[tuple[str, str, str]]:
    """Yields (name, key in the file, message)."""
    reached = _Reached(pack)
    for axis in pack.axes:
        if message := reached.axis(axis):
            yield axis.name, f"axes.{axis.name}", message
    for parameter in pack.parameters:
        if parameter.shown and (message := "; ".join(reached.parameter(parameter))):
            yield parameter.name, f"parameters.{parameter.name}", message
    for constraint in pack.constraints:
        if message := reached.constraint(constraint):
            yield constraint.text, f"constraints ({constraint.text})", message
    # A vector's largest sizes are those of its axis.
    if len(pack.axes) > 1 and (message := reached.outputs()):
        yield "outputs", "cases", message


@dataclass(frozen=True, slots=True)
class _Cost:
    elements: int
    operations: float

    @classmethod
    def of(cls, pack: Pack, variables: Variables) -> _Cost:
        """Raises ExpressionError."""
        elements = 0
        for argument in pack.arguments:
            if argument.is_pointer:
                elements += _count(argument, variables)
        return cls(elements, float(pack.bench.flops.evaluate(variables)))


class _Reached:
    """The values that the cases of a pack reach on the emulator, and on any device."""

    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        self._emulated: Sequence[Case] = pack.cases_for("emulator")
        self._all: Sequence[Case] = (*pack.cases, *pack.benchmarks)
        # A pack whose smallest case is dear has no cheaper ones.
        costs = [_Cost.of(pack, case.variables) for case in self._emulated]
        self._limit = _Cost(
            max(_CHEAP_ELEMENTS, min((cost.elements for cost in costs), default=0)),
            max(_CHEAP_OPERATIONS, min((cost.operations for cost in costs), default=0)),
        )
        smallest: dict[str, Number] = {axis.name: axis.min for axis in pack.axes}
        smallest |= {parameter.name: parameter.default for parameter in pack.parameters}
        self._bases: list[dict[str, Number]] = [smallest, *(dict(case.variables) for case in self._emulated)]

    def axis(self, axis: Axis) -> str:
        """Returns the fault of the largest sizes; nothing if they are reached."""
        emulated = max((case.axes[axis.name] for case in self._emulated), default=0)
        anywhere = max((case.axes[axis.name] for case in self._all), default=0)
        largest = axis.max // axis.multiple_of * axis.multiple_of
        wanted = {_rounded_up(limit, axis.multiple_of) for limit in _LIMITS} | (
            {largest} if largest <= _WHOLE else set()
        )
        two_levels = _rounded_up(_TWO_LEVELS, axis.multiple_of)
        if len(self._pack.axes) == 1:
            wanted.add(two_levels)
        for size in sorted((size for size in wanted if emulated < size <= largest), reverse=True):
            if self._is_cheap(axis.name, size, MAX_ELEMENTS if size == two_levels else 0):
                return f"reaches {emulated:,} of {largest:,} on the emulator, where a case of {size:,} is cheap"
        return _far_from_end(anywhere, largest)

    def parameter(self, parameter: Parameter) -> Iterator[str]:
        """Yields the faults of the least and the largest value; nothing if they are reached."""
        name = parameter.name
        for end, choose in ((parameter.min, min), (parameter.max, max)):
            if end is None:
                continue
            emulated = choose(case.parameters[name] for case in self._emulated)
            if emulated == end:
                continue
            if self._is_cheap(name, end):
                yield f"reaches {emulated:,} of {end:,} on the emulator, where a case of it is cheap"
            elif message := _far_from_end(abs(choose(case.parameters[name] for case in self._all)), abs(end)):
                yield message

    def constraint(self, constraint: Constraint) -> str:
        """Returns which comparison no case meets with equality, or with a difference of 1 where it must differ."""
        for left, comparison, right in constraint.pairs():
            if comparison not in ("<", "<=", ">", ">="):
                continue
            if not left.names or not right.names:
                values = [(left if left.names else right).evaluate(case.variables) for case in self._all]
                limit = (right if left.names else left).evaluate({})
                is_upper = comparison.startswith("<") == bool(left.names)
                if is_upper and (message := _far_from_end(max(values), limit)):
                    return message
                continue
            apart = 0 if comparison.endswith("=") else 1
            if not any(_differ_by(left, right, case.variables, apart) for case in self._emulated):
                nearest = "in which both sides are equal" if apart == 0 else "in which the sides differ by 1"
                return f"no case on the emulator {nearest}"
        return ""

    def outputs(self) -> str:
        """Returns that no case has an output of many elements, though that is cheap; nothing if one has."""
        outputs = self._pack.outputs
        most = max((_count(output, case.variables) for output in outputs for case in self._emulated), default=0)
        if most >= _GRID:
            return ""
        for output in outputs:
            for variables in self._of_many(output):
                sizes = ", ".join(f"{axis.name} = {variables[axis.name]:,}" for axis in self._pack.axes)
                return f"no output has more than {most:,} elements on the emulator, where a case of {sizes} is cheap"
        return ""

    def _of_many(self, output: Argument) -> Iterator[dict[str, Number]]:
        """Yields variables of cheap cases, in which an output has more elements than a small grid has threads."""
        extents = set[str]().union(*(extent.names for extent in output.shape))
        axes = [axis for axis in self._pack.axes if axis.name in extents]
        for base in self._bases:
            for pair in itertools.combinations(axes, min(_TIED, len(axes))):
                for chosen in itertools.product(_GRID_SIZES, repeat=len(pair)):
                    sizes = {
                        axis.name: _rounded_up(size, axis.multiple_of) for axis, size in zip(pair, chosen, strict=True)
                    }
                    variables = {**base, **sizes}
                    in_range = all(axis.min <= sizes[axis.name] <= axis.max for axis in pair)
                    if in_range and self._is_allowed(variables, self._limit) and _count(output, variables) >= _GRID:
                        yield variables

    def _is_cheap(self, name: str, value: Number, elements: int = 0) -> bool:
        """Returns whether some case with this value keeps to the constraints and is cheap on the emulator.

        So many ``elements`` are cheap, or as many as in any pack if that is more.
        """
        limit = _Cost(max(self._limit.elements, elements), self._limit.operations)
        others = self._candidates(name, value)
        for base in self._bases:
            for count in range(_TIED + 1):
                for names in itertools.combinations(others, count):
                    for chosen in itertools.product(*(others[each] for each in names)):
                        if self._is_allowed({**base, name: value, **dict(zip(names, chosen, strict=True))}, limit):
                            return True
        return False

    def _candidates(self, name: str, value: Number) -> dict[str, list[Number]]:
        """Returns values to try for the names that share a constraint with ``name``, or shorten what costs."""
        tied = self._tied(name)
        found: dict[str, list[Number]] = {}
        for axis in self._pack.axes:
            if axis.name != name:
                near = {_rounded_up(int(each), axis.multiple_of) for each in (value, value + 1) if axis.name in tied}
                found[axis.name] = [each for each in sorted({axis.min} | near) if axis.min <= each <= axis.max]
        for parameter in self._pack.parameters:
            if parameter.name != name and parameter.name in tied:
                found[parameter.name] = [value]
        return found

    def _tied(self, name: str) -> set[str]:
        """Returns the names that constraints bind to ``name``, directly or by others."""
        tied, more = set[str](), {name}
        while more - tied:
            tied |= more
            more = {
                each for constraint in self._pack.constraints if tied & constraint.names for each in constraint.names
            }
        return tied

    def _is_allowed(self, variables: Variables, limit: _Cost) -> bool:
        try:
            if not all(constraint.holds(variables) for constraint in self._pack.constraints):
                return False
            cost = _Cost.of(self._pack, variables)
        except ExpressionError:
            return False
        return 0 < cost.elements <= limit.elements and cost.operations <= limit.operations


def _count(argument: Argument, variables: Variables) -> int:
    """Returns the number of elements. Raises ExpressionError."""
    return math.prod(extent.evaluate_int(variables) for extent in argument.shape)


def _far_from_end(reached: Number, end: Number) -> str:
    """Returns a message unless ``reached`` is at least half of ``end``."""
    if 2 * reached >= end:
        return ""
    return f"reaches {reached:,} of {end:,}; write a case (for GPUs alone, if it is large), narrow it, or say why not"


def _differ_by(left: Expression, right: Expression, variables: Variables, apart: int) -> bool:
    one, other = left.evaluate(variables), right.evaluate(variables)
    # Between real numbers there is no next one.
    return abs(one - other) == apart or (apart > 0 and not (isinstance(one, int) and isinstance(other, int)))


def _rounded_up(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple
