"""Measures how much of a pack's work can be left out, or done in less precision, before its checks object.

The reference is the kernel. One in so many elements of an input is made zero, or given its neighbour's value (what a
kernel has that skips an element and makes up for it), or all lose significant bits; outputs lose bits, or keep elements
that were never written. Each answer is checked as those of timed calls are, by the pack's spot check if it has one.
What is accepted is not always a cheat: an element that counts for nothing may be skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from judge.packs.errors import PackError
from judge.packs.judging import spot_check
from judge.verify.prepared import Outputs, PreparedCase, right_outputs
from records import dataclass

Array = npt.NDArray[Any]

#: One element in so many is left out: from half of them to as few as are worth a kernel's while.
_STRIDES = tuple(1 << power for power in range(1, 14))
#: Draws of a spot check that have to accept an answer.
_DRAWS = 3


@dataclass(frozen=True, slots=True)
class Slack:
    """The slack that one case leaves in one argument.

    ``zeroed`` and ``copied``: the largest share of an input's elements that may be zero, or their neighbours; 0.0 where
    even the smallest share tried is refused. ``unwritten``: the same of an output's elements that stay zero. ``bits``:
    the fewest significant bits that its elements may have; None for integers.
    """

    case: str
    argument: str
    bits: int | None
    zeroed: float | None = None
    copied: float | None = None
    unwritten: float | None = None


def measure_slack(prepared: PreparedCase) -> Iterator[Slack]:
    """Yields the slack of every input and output of a case. Raises what the pack's code raises for the case itself."""
    # Read before any input is spoilt: an error of the reference for the case itself is the caller's.
    right = prepared.right
    for argument in prepared.pack.inputs:
        array = prepared.inputs[argument.name]

        def answer(spoilt: Array, name: str = argument.name) -> Outputs:
            return right_outputs(prepared.pack, prepared.case, {**prepared.inputs, name: spoilt})

        zeroed, copied = (_largest_share(prepared, array, answer, spoil) for spoil in (_zeroed, _copied))
        bits = _fewest_bits(prepared, array, answer)
        yield Slack(prepared.case.id, argument.name, bits, zeroed=zeroed, copied=copied)
    for argument in prepared.pack.outputs:
        array = right[argument.name]

        def written(spoilt: Array, name: str = argument.name) -> Outputs:
            return {**right, name: spoilt}

        share = _largest_share(prepared, array, written, _zeroed)
        yield Slack(prepared.case.id, argument.name, _fewest_bits(prepared, array, written), unwritten=share)


def slack_table(slacks: Sequence[Slack]) -> str:
    """Returns a table in Markdown; a dash stands for what does not apply, or was refused however little it was."""
    head = ("case", "argument", "significant bits", "zero", "neighbour's", "unwritten")
    rows = [
        (each.case, each.argument, str(each.bits or "–"), *map(_share, (each.zeroed, each.copied, each.unwritten)))
        for each in slacks
    ]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ("---",) * len(head), *rows))


def _share(share: float | None) -> str:
    return f"1 in {round(1 / share)}" if share else "–"


def with_bits(values: Array, bits: int) -> Array:
    """Returns floating-point numbers rounded to ``bits`` significant bits."""
    mantissa, exponent = np.frexp(values.astype(np.float64))
    rounded: Array = np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits).astype(values.dtype)
    kept: Array = np.where(np.isfinite(values), rounded, values)
    return kept


def _zeroed(values: Array, stride: int) -> Array:
    spoilt = values.copy()
    spoilt.reshape(-1)[stride // 2 :: stride] = 0
    return spoilt


def _copied(values: Array, stride: int) -> Array:
    spoilt = values.copy()
    flat = spoilt.reshape(-1)
    places = np.arange(stride // 2, flat.size, stride)
    flat[places] = flat[places - 1]
    return spoilt


def _largest_share(
    prepared: PreparedCase, array: Array, answer: Callable[[Array], Outputs], spoil: Callable[[Array, int], Array]
) -> float:
    for stride in _STRIDES:
        if stride > array.size:
            break
        spoilt = spoil(array, stride)
        if not np.array_equal(spoilt, array) and _accepts(prepared, answer, spoilt):
            return float(1 / stride)
    return 0.0


def _fewest_bits(prepared: PreparedCase, array: Array, answer: Callable[[Array], Outputs]) -> int | None:
    if not np.issubdtype(array.dtype, np.floating):
        return None
    fewest = most = int(np.finfo(array.dtype).nmant) + 1
    for bits in range(most - 1, 0, -1):
        if not _accepts(prepared, answer, with_bits(array, bits)):
            break
        fewest = bits
    return fewest


def _accepts(prepared: PreparedCase, answer: Callable[[Array], Outputs], spoilt: Array) -> bool:
    try:
        outputs = answer(spoilt)
    except PackError:
        # The reference takes no such input (a system without a solution, offsets that fall): nor does a kernel.
        return False
    if not prepared.pack.reference.defines("spot_check"):
        return prepared.check(outputs) is None
    return all(
        spot_check(prepared.pack, prepared.case, prepared.inputs, outputs, seed) is None for seed in range(_DRAWS)
    )
