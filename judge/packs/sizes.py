"""Evaluates a pack's expressions over its axes and parameters: shapes, bytes, operations."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from judge.packs.form.argument import Argument
from judge.packs.pack import Case, Pack
from judge.wire.elements import Element


class OutputSpec(NamedTuple):
    """A written argument, as the runner has to know it.

    ``initial`` is what it holds on entry; ``input`` means its own input.
    """

    shape: tuple[int, ...]
    element: Element
    initial: Literal["zero", "poison", "input"]


def shape(case: Case, argument: Argument) -> tuple[int, ...]:
    """Returns an argument's extents; empty for a scalar. Raises ExpressionError."""
    return tuple(extent.evaluate_int(case.variables) for extent in argument.shape)


def array_shape(case: Case, argument: Argument) -> tuple[int, ...]:
    """Returns an argument's extents as an array of its own has them; empty for a scalar. Raises ExpressionError.

    An extent that is a product of names, such as ``BATCH*M``, is as many extents: the memory is the same.
    """
    extents: list[int] = []
    for extent in argument.shape:
        names = extent.text.replace(" ", "").split("*")
        if len(names) > 1 and all(name in case.axes for name in names):
            extents += [case.axes[name] for name in names]
        else:
            extents.append(extent.evaluate_int(case.variables))
    return tuple(extents)


def element_count(case: Case, argument: Argument) -> int:
    """Returns the number of elements of a buffer. Raises ExpressionError."""
    return math.prod(shape(case, argument))


def buffer_bytes(case: Case, argument: Argument) -> int:
    """Returns the size of an argument's buffer; 0 for a scalar. Raises ExpressionError."""
    return element_count(case, argument) * argument.element.facts.size_bytes if argument.is_pointer else 0


def output_specs(pack: Pack, case: Case) -> dict[str, OutputSpec]:
    """Returns shape, type and contents on entry of every out and inout argument. Raises ExpressionError."""
    return {
        output.name: OutputSpec(
            shape(case, output), output.element, "input" if output.role == "inout" else output.initial
        )
        for output in pack.outputs
    }


def case_bytes(pack: Pack, case: Case) -> float:
    """Returns the bytes that a call has to move between the chip and its memory at the least."""
    return float(pack.bench.bytes.evaluate(case.variables))


def case_flops(pack: Pack, case: Case) -> float | None:
    """Returns the operations of a call; None where the pack counts none."""
    return float(pack.bench.flops.evaluate(case.variables)) or None
