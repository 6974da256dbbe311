"""Tries to get past a pack's checks, at the size and with the data of its benchmarks, with less work than is due.

The reference is the kernel. What it reads is thinned (one in a thousand elements, the last thousandth, or five of eight
are left out, and others stand for them; a single one stands for all), what it reads, writes or keeps between two steps
is rounded to fewer bits, and iterations stop early. The answer is checked as those of timed calls are. A shortcut
passes where it is accepted with each of several seeds; then a kernel that takes it gets a time that it has not earned.

Where the reference is too slow for the whole benchmark, the pack's spot check is computed twice in its place, from the
inputs and from what the shortcut makes of them.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from judge.check.compare import compare
from judge.check.narrowed import recorded_lines, rounding_line
from judge.packs import sizes
from judge.packs.data.distributions import FromFile, varies
from judge.packs.data.inputs import Inputs, lazy_inputs
from judge.packs.data.lazy_array import real_arrays
from judge.packs.data.streams import Stream
from judge.packs.form.argument import Argument
from judge.packs.isolation.calls import runs_pack_code
from judge.packs.judging import Checker, expected_of, spot_check
from judge.packs.pack import Case, Pack
from judge.verify.prepared import PreparedCase, right_outputs
from judge.verify.thinned import ChangedInput, Thinning
from records import dataclass

Array = npt.NDArray[Any]

#: Draws that all have to accept a shortcut.
SEEDS = (1, 2, 3, 4)
#: Outputs with fewer whole numbers than this are seldom changed by what is left out: they show only large parts.
_FEW_ANSWERS = 1000
#: Operations a byte from which on a kernel may wait for arithmetic rather than for memory.
_COMPUTES = 8.0
#: Arrays of fewer elements are read whole by every kernel.
_LEAST = 64


class Outcome(StrEnum):
    """The checks' answer: right bit for bit, accepted, or refused."""

    SAME = "same"
    ACCEPTED = "accepted"
    REFUSED = "refused"
    UNTRIED = "untried"


@dataclass(frozen=True, slots=True)
class Shortcut:
    """One way to do less.

    ``arguments`` are what it is done to: inputs of one size that are thinned together, an argument that is rounded to
    ``bits`` significant ones, or a scalar that becomes ``value``. ``line`` is that of ``reference.py`` whose results
    are rounded.
    """

    arguments: tuple[str, ...] = ()
    thinning: Thinning | None = None
    bits: int | None = None
    line: int | None = None
    value: int | None = None
    title: str = ""

    @property
    def name(self) -> str:
        return f"shortcut: {', '.join(self.arguments)}{self.title}"


@dataclass(frozen=True, slots=True)
class Passed:
    """A shortcut that the checks of a case accept."""

    case: str
    shortcut: str


def shortcuts_table(passed: Sequence[tuple[str, Passed]]) -> str:
    """Returns a table in Markdown of challenges and what passes there."""
    rows = [(slug, each.case, each.shortcut.removeprefix("shortcut: ")) for slug, each in passed]
    head = ("challenge", "benchmark", "what passes")
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ("---",) * len(head), *rows))


def passing_shortcuts(pack: Pack, case: Case) -> Iterator[Passed]:
    """Yields the shortcuts that pass. Raises PackError where the pack's code fails with the inputs as they are."""
    # At the emulator's size the reference takes a moment; at a GPU's the spot check was written because it does not.
    whole = "cuda" not in case.devices or not pack.reference.defines("spot_check")
    _tried(pack, case, SEEDS[0], Shortcut(), whole)
    for group in _by_severity(pack, case):
        for shortcut in group:
            if not passes(pack, case, shortcut, whole=whole):
                break
            yield Passed(case.id, shortcut.name)
    if _precision_counts(pack, case):
        for line in _lines_of(pack, case, SEEDS[0], whole):
            shortcut = Shortcut(bits=_BITS["tf32"], line=line, title=f"line {line} in tf32")
            if passes(pack, case, shortcut, whole=whole):
                yield Passed(case.id, shortcut.name)


def passes(pack: Pack, case: Case, shortcut: Shortcut, *, whole: bool) -> bool:
    """Returns whether a shortcut is accepted with every seed."""
    seen = set()
    for seed in SEEDS:
        outcome = Outcome(_tried(pack, case, seed, shortcut, whole))
        if outcome not in (Outcome.SAME, Outcome.ACCEPTED):
            return False
        seen.add(outcome)
    if shortcut.value is not None and Outcome.ACCEPTED not in seen:
        # A number that the reference does not read (the rows' ends say how many there are) is no work to save.
        least = dataclasses.replace(shortcut, value=0)
        return Outcome(_tried(pack, case, SEEDS[0], least, whole)) is not Outcome.SAME
    # What changes no bit is harmless where it rounds; where it leaves out, the answer could be known before.
    return Outcome.ACCEPTED in seen or shortcut.thinning is not None


_BITS = {"tf32": 11, "bf16": 8}
#: The right outputs of the seeds, and what checks them, in the process of the pack.
_known: dict[tuple[str, str, int], tuple[dict[str, Array], Checker]] = {}


def _by_severity(pack: Pack, case: Case) -> Iterator[Sequence[Shortcut]]:
    """Yields shortcuts of a kind, each the worse for a check that accepts it."""
    for names, count in _alike(pack, case):
        few = _few_answers(pack, case)
        if not few:
            yield [
                Shortcut(names, Thinning(period, kept), title=f" without {what}")
                for period, kept, what in (
                    (1000, 999, "one in 1000"), (100, 99, "one in 100"), (24, 23, "one in 24"), (8, 3, "five of eight"),
                )
                if count >= 2 * period
            ]  # fmt: skip
            ends = ((1000, "thousandth"), (100, "hundredth"), (8, "eighth"))
            yield [
                Shortcut(names, Thinning(count, count - max(1, count // part)), title=f" without the last {what}")
                for part, what in ends
                if count >= part
            ]
        else:
            yield [Shortcut(names, Thinning(8, 3), title=" without five of eight")]
        yield [Shortcut(names, Thinning(count, max(1, count // 8)), title=" but the first eighth")]
    for argument in pack.arguments:
        if argument.is_pointer or not _is_count(pack, argument):
            continue
        assert argument.value is not None
        value = int(argument.value.evaluate(case.variables))
        if value > 1:
            less = value - max(1, value // 8)
            yield [Shortcut((argument.name,), value=less, title=" an eighth smaller")]
    if not _precision_counts(pack, case):
        return
    for argument in (*pack.inputs, *pack.outputs):
        if argument.dtype == np.float32 and sizes.element_count(case, argument) >= _FEW_ANSWERS:
            yield [
                Shortcut((argument.name,), bits=bits, title=f"{' written' if argument.is_output else ''} in {name}")
                for name, bits in _BITS.items()
            ]


def _precision_counts(pack: Pack, case: Case) -> bool:
    """Returns whether fewer bits are against the statement, and would save time.

    They are not where a type has few itself. They save nothing where everything is read once and a few numbers come
    out, in which the roundings of millions of terms cancel.
    """
    floats = [each for each in pack.arguments if each.is_pointer and each.element.facts.is_float]
    if pack.bench.arithmetic != "fp32" or any(each.element.facts.size_bytes < 4 for each in floats):
        return False
    written = sum(sizes.element_count(case, each) for each in pack.outputs)
    intensity = (sizes.case_flops(pack, case) or 0.0) / sizes.case_bytes(pack, case)
    return written >= _FEW_ANSWERS or intensity > _COMPUTES


def _alike(pack: Pack, case: Case) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yields the inputs of one size, and their number of elements."""
    groups: dict[int, list[str]] = {}
    for argument in pack.inputs:
        data = case.distribution(argument)
        shape = sizes.shape(case, argument)
        if data is None or isinstance(data, FromFile) or varies(data, shape):
            groups.setdefault(sizes.element_count(case, argument), []).append(argument.name)
    for count, names in groups.items():
        if count >= _LEAST:
            yield tuple(names), count


def _few_answers(pack: Pack, case: Case) -> bool:
    return sum(sizes.element_count(case, each) for each in pack.outputs) < _FEW_ANSWERS and all(
        each.dtype.kind in "iub" for each in pack.outputs
    )


def _is_count(pack: Pack, argument: Argument) -> bool:
    """Returns whether a scalar is a whole number that no buffer's size depends on, such as one of iterations."""
    if argument.value is None or argument.dtype.kind not in "iu":
        return False
    shaping = {name for each in pack.arguments for extent in each.shape for name in extent.names}
    return bool(argument.value.names) and not argument.value.names & shaping


@runs_pack_code
def _lines_of(pack: Pack, case: Case, seed: int, whole: bool) -> list[int]:
    inputs = _followed(lazy_inputs(pack, case, seed))
    with recorded_lines(pack.reference.path) as lines:
        if whole:
            right_outputs(pack, case, inputs)
        else:
            for _ in _parts(pack, case, inputs, seed):
                pass
    return sorted(lines)


@runs_pack_code
def _tried(pack: Pack, case: Case, seed: int, shortcut: Shortcut, whole: bool) -> str:
    inputs = lazy_inputs(pack, case, seed)
    changed = _changed(inputs, shortcut)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            how = _of_reference if whole else _of_spot_check
            return str(how(pack, case, inputs, changed, seed, shortcut).value)
        except Exception:
            # Data of which a part stands for another may be none: an index outside, rows that end before they begin.
            if shortcut == Shortcut():
                raise
            return str(Outcome.REFUSED.value)


def _changed(inputs: Inputs, shortcut: Shortcut) -> Inputs:
    changed = _followed(inputs)
    for name in shortcut.arguments:
        if name not in inputs:
            continue
        if shortcut.value is not None:
            changed[name] = inputs[name].dtype.type(shortcut.value)
        elif shortcut.thinning is not None:
            changed[name] = ChangedInput(inputs[name], shortcut.thinning)
        elif shortcut.bits is not None and not shortcut.title.startswith(" written"):
            changed[name] = ChangedInput(inputs[name], change=_rounding(shortcut.bits))
    return changed


def _followed(inputs: Inputs) -> Inputs:
    return {name: ChangedInput(each) if getattr(each, "shape", ()) else each for name, each in inputs.items()}


def _of_reference(pack: Pack, case: Case, inputs: Inputs, changed: Inputs, seed: int, shortcut: Shortcut) -> Outcome:
    right, check = _right(pack, case, seed)
    with _rounded_line(pack, shortcut):
        made = right_outputs(pack, case, real_arrays(changed))
    outputs = {name: _written(name, np.asarray(values), shortcut) for name, values in made.items()}
    if all(right[name].tobytes() == values.tobytes() for name, values in outputs.items()):
        return Outcome.SAME
    if pack.reference.defines("spot_check"):
        return Outcome.REFUSED if spot_check(pack, case, inputs, outputs, seed) else Outcome.ACCEPTED
    return Outcome.REFUSED if check(outputs) else Outcome.ACCEPTED


def _right(pack: Pack, case: Case, seed: int) -> tuple[dict[str, Array], Checker]:
    key = (pack.digest, case.id, seed)
    if key not in _known:
        if len(_known) >= len(SEEDS):
            _known.clear()
        prepared = PreparedCase(pack, case, seed)
        _known[key] = prepared.right, prepared.check
    return _known[key]


def _of_spot_check(pack: Pack, case: Case, inputs: Inputs, changed: Inputs, seed: int, shortcut: Shortcut) -> Outcome:
    outcome, compared = Outcome.SAME, False
    theirs = _parts(pack, case, changed, seed)
    for part in _parts(pack, case, inputs, seed):
        with _rounded_line(pack, shortcut):
            other = next(theirs)
        for output in pack.outputs:
            if output.tolerance is None:
                return Outcome.UNTRIED
            rows, values, magnitude = part[output.name]
            their_rows, made, _ = other[output.name]
            if not _same_rows(rows, their_rows):
                return Outcome.UNTRIED
            expected = expected_of(pack, case, output, values, magnitude, np.shape(values))
            got = _written(output.name, np.asarray(made).astype(output.dtype), shortcut).reshape(expected.values.shape)
            compared = True
            if compare(output.name, expected, got) is not None:
                return Outcome.REFUSED
            if not np.array_equal(got, np.asarray(values).astype(output.dtype).reshape(got.shape), equal_nan=True):
                outcome = Outcome.ACCEPTED
    return outcome if compared else Outcome.UNTRIED


def _parts(pack: Pack, case: Case, inputs: Inputs, seed: int) -> Iterator[Mapping[str, Any]]:
    """Yields the parts that the spot check compares, of outputs that are all zero."""
    check = pack.reference.spot_check
    assert check is not None
    outputs = {
        output.name: np.broadcast_to(np.zeros((), output.dtype), sizes.shape(case, output)) for output in pack.outputs
    }
    found = check(Stream(seed, case.id, "spot_check", 0).generator(), inputs, outputs)
    yield from [found] if isinstance(found, dict) else found


def _same_rows(one: Any, other: Any) -> bool:
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_same_rows, one, other))
    return bool(np.array_equal(one, other))


def _rounded_line(pack: Pack, shortcut: Shortcut) -> Any:
    if shortcut.line is None:
        return np.errstate()
    assert shortcut.bits is not None
    return rounding_line(pack.reference.path, shortcut.line, _rounding(shortcut.bits))


def _written(name: str, values: Array, shortcut: Shortcut) -> Array:
    if shortcut.bits is not None and shortcut.title.startswith(" written") and name in shortcut.arguments:
        return _rounding(shortcut.bits)(values)
    return values


def _rounding(bits: int) -> Callable[[Array], Array]:
    """Returns a function that rounds floating-point numbers to ``bits`` significant bits, to nearest even."""

    def rounded(values: Array) -> Array:
        if values.dtype == np.float64:
            return _in_doubles(values)
        dropped = 24 - bits
        words = np.ascontiguousarray(values, np.float32).view(np.uint32)
        half = np.uint32((1 << (dropped - 1)) - 1)
        words = words + half + ((words >> np.uint32(dropped)) & np.uint32(1))
        words &= np.uint32(0xFFFFFFFF << dropped & 0xFFFFFFFF)
        made: Array = words.view(np.float32).astype(values.dtype)
        return made

    def _in_doubles(values: Array) -> Array:
        dropped = 53 - bits
        words = np.ascontiguousarray(values).view(np.uint64)
        half = np.uint64((1 << (dropped - 1)) - 1)
        words = words + half + ((words >> np.uint64(dropped)) & np.uint64(1))
        words &= np.uint64(0xFFFFFFFFFFFFFFFF << dropped & 0xFFFFFFFFFFFFFFFF)
        return words.view(np.float64)

    return rounded
