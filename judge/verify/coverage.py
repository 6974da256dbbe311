"""Checks that the sizes of the cases are those at which kernels go wrong."""

from __future__ import annotations

from collections.abc import Iterator

from judge.packs import sizes
from judge.packs.form.expressions import ExpressionError
from judge.packs.pack import Axis, Case, Pack
from judge.verify.findings import Finding, error, note, warning

#: Few kernels handle more elements than this in one block.
_ONE_BLOCK = 1024
_WARP = 32
_MIN_HIDDEN = 5
#: Rows whose length is 2 more than a multiple of this begin where two floats may be read at once, but not four.
_FOUR = 4
#: What the emulator and the reference judge in a moment.
MAX_ELEMENTS = 3_000_000
_MAX_OPERATIONS = 50e6


def check_coverage(pack: Pack) -> Iterator[Finding]:
    """Yields the awkward sizes that no case has, and cases that are too large for the emulator."""
    file = pack.directory / "challenge.toml"
    hidden = [case for case in pack.cases if case.group == "hidden"]
    if len(hidden) < _MIN_HIDDEN:
        yield error("hidden-cases", file, "cases", f"{len(hidden)} hidden cases; write at least {_MIN_HIDDEN}")
    for axis in pack.axes:
        for code, message in _missing_sizes(axis, [case.axes[axis.name] for case in pack.cases]):
            yield error(code, file, f"axes.{axis.name}", message)
    for axis in pack.axes:
        if _misses_pairs(pack, axis):
            message = f"no size above {_WARP} is even but no multiple of {_FOUR}: kernels that read pairs differ there"
            yield warning("size-pairs", file, f"axes.{axis.name}", message)
    if len(pack.axes) > 1 and not any(len(set(case.axes.values())) == len(case.axes) for case in pack.cases):
        names = ", ".join(axis.name for axis in pack.axes)
        message = f"no case in which {names} all differ, so that exchanging two of them goes unnoticed"
        yield error("size-distinct", file, "cases", message)
    if not any(_largest_buffer(pack, case) > _ONE_BLOCK for case in pack.cases):
        message = f"no case has a buffer of more than {_ONE_BLOCK} elements, so that one block of threads is enough"
        yield error("size-one-block", file, "cases", message)
    if not any(_has_prime_size(axis, case.axes[axis.name]) for case in pack.cases for axis in pack.axes):
        yield warning("size-prime", file, "cases", f"no size above {_WARP} is a prime, or one times its multiple_of")
    for case in (*pack.cases_for("emulator"), *pack.benchmarks_for("emulator")):
        yield from _too_large(pack, case)


def _missing_sizes(axis: Axis, used: list[int]) -> Iterator[tuple[str, str]]:
    if axis.min not in used:
        yield "size-minimum", f"no case has the smallest, {axis.min}"
    if axis.multiple_of % _WARP and axis.max > _WARP and not any(size % _WARP for size in used):
        yield "size-warp", f"every case has a multiple of {_WARP}"
    if axis.max > axis.min and len(set(used)) < 2:
        yield "size-variety", f"every case has {used[0]}"


def _misses_pairs(pack: Pack, axis: Axis) -> bool:
    """Returns whether rows may be as long as pairs, but not fours, of numbers, and no case has such rows."""
    if not any(argument.is_pointer and argument.shape[-1].names == {axis.name} for argument in pack.arguments):
        return False
    cases = pack.cases_for("emulator")
    if any(case.axes[axis.name] > _WARP and case.axes[axis.name] % _FOUR == _FOUR // 2 for case in cases):
        return False
    multiples = range(axis.min, min(axis.max, 2 * _ONE_BLOCK) + 1, axis.multiple_of)
    wanted = [size for size in multiples if size > _WARP and size % _FOUR == _FOUR // 2]
    return any(_is_allowed(pack, case, axis.name, size) for case in cases for size in wanted)


def _is_allowed(pack: Pack, case: Case, name: str, size: int) -> bool:
    """Returns whether the case with another size keeps to the constraints."""
    return all(constraint.holds({**case.variables, name: size}) for constraint in pack.constraints)


def _largest_buffer(pack: Pack, case: Case) -> int:
    return max(sizes.element_count(case, argument) for argument in pack.arguments if argument.is_pointer)


def _too_large(pack: Pack, case: Case) -> Iterator[Finding]:
    file, key = pack.directory / "challenge.toml", f"cases.{case.id}"
    try:
        elements = sum(sizes.element_count(case, argument) for argument in pack.arguments if argument.is_pointer)
        operations = sizes.case_flops(pack, case) or 0
    except ExpressionError as problem:
        yield error("expression", file, key, str(problem))
        return
    if elements > MAX_ELEMENTS:
        yield warning("case-large", file, key, f"{elements:,} elements are slow to judge; stay below {MAX_ELEMENTS:,}")
    if operations > _MAX_OPERATIONS:
        message = f"{operations:.2g} operations are slow to emulate; stay below {_MAX_OPERATIONS:.0e}"
        yield note("case-slow", file, key, message)


def _has_prime_size(axis: Axis, size: int) -> bool:
    return size > _WARP and _is_prime(size // axis.multiple_of)


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % factor for factor in range(2, int(number**0.5) + 1))
