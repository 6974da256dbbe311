"""Names likely causes of a wrong answer, from what was found beside it and from the code that was compiled.

Nothing here decides a verdict. Where nothing can be told, nothing is said.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence

import numpy as np

from emulator.fat_binaries import fat_binaries
from emulator.runtime import fatbinary
from emulator.wording import CUDA, Wording
from judge.check.mismatch import imprecision, without_questions
from judge.compile.artifact import Artifact
from judge.compile.listing import Instruction, read_ptx
from judge.compile.source_files import MAIN, own_lines
from judge.judgement import OF_WHOLE_LAUNCHES, MemoryFault, Mismatch

_WITH_HOST = "race with the host"
#: Fewer wrong elements may look like wrong rounding by chance.
_FEWEST_ROUNDED = 4
#: Fewer numbers may all be off by a multiple of 256 by chance.
_FEWEST_WRAPPED = 3
_MOST_CAUSES = 2
_COMMENTS = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_APPROXIMATE = re.compile(r"\b(?:ex2|lg2|sin|cos|tanh|div|rcp)\.approx\b|\bdiv\.full\b")
#: Of these, only the function's name tells that its author asked for less precision: ``expf`` takes ``ex2.approx`` too.
_INTRINSIC = re.compile(r"\b(__(?:expf|exp10f|logf|log2f|log10f|powf|sinf|cosf|sincosf|tanf|fdividef))\s*\(")
_TO_HALF = re.compile(r"\bcvt\.\w+(?:\.\w+)*\.f16(?:x2)?\.f(?:32|64)\b")
_TO_BFLOAT = re.compile(r"\bcvt\.\w+(?:\.\w+)*\.bf16(?:x2)?\.f(?:32|64)\b")
#: A float that becomes a half, and a half that becomes a float: which register has the half.
_INTO_HALF = re.compile(r"\bcvt\.rn\.b?f16\.f32\s+(%\w+),\s*(%\w+)")
_OUT_OF_HALF = re.compile(r"\b(?:cvt\.f32\.b?f16\s+%\w+,|mov\.b32\s+%\w+,\s*\{0,)\s*(%\w+)")
_LITERAL = re.compile(r"\bmov\.[bf]32\s+(%\w+),\s*0f")
_SUM_OF_HALVES = re.compile(
    r"\b(?:(?:add|fma)\.(?:rn\.)?(?:ftz\.)?(?:sat\.)?(?:relu\.)?|(?:atom|red)\.(?:\w+\.)*?add\.(?:noftz\.)?)b?f16(?:x2)?\b"
)
_PRODUCT_OF_HALVES = re.compile(r"\bmul\.(?:rn\.)?(?:ftz\.)?(?:sat\.)?b?f16(?:x2)?\b")
_TEXTURE = re.compile(r"\btex\.(?:\w+\.)*f32\.f32\b")
#: What a source says whose textures interpolate.
_LINEAR = "FilterModeLinear"
_TENSOR = re.compile(r"\bw?mma\.(?:mma\.)?sync\b.*\.(tf32|bf16|f16)\b")
_EXTERN_SHARED = re.compile(r"\bextern\s+__shared__\b")
_EXTERN_ARRAYS = re.compile(r"\.extern\s+\.shared\s[^;]*?([\w$]+)\[\]\s*;")
_ATOMIC_EXTREME = re.compile(r"\b(?:atom|red)\.(?:(?!shared)\w+\.)*(max|min)\.\w+")
_FROM_FLOAT = re.compile(r"\bcvt\.r[nzmp]i\.(?:\w+\.)*[su](?:32|64)\.f32\b")
#: Up to here a float holds every integer, and sums of rounded terms are off by no more than such a share.
_EXACT_FLOATS, _ROUNDED_SHARE = 1 << 24, 1e-3
#: Numbers that a memset leaves: of bytes 0, and in integers of bytes 255.
_SET_BY_BYTES = (0, -1)
_NAMES = re.compile(r"[\w$]+")
_TRITON_DOT = "tl.dot("
_TENSOR_NAMES = {"tf32": "TF32", "bf16": "bfloat16", "f16": "half precision"}


def in_order(faults: Sequence[MemoryFault]) -> tuple[MemoryFault, ...]:
    """Returns faults by block, then thread, then line: the same order whichever thread met its fault first."""
    return tuple(sorted(faults, key=_place))


def _place(fault: MemoryFault) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    return tuple(reversed(fault.block or ())), tuple(reversed(fault.thread or ())), fault.line or 0


def has_one_order(fault: MemoryFault) -> bool:
    """Returns whether a race may come out the same way each time: one of lanes of a warp, or with the host."""
    other = fault.other
    if fault.kind in OF_WHOLE_LAUNCHES:
        return fault.kind == _WITH_HOST
    if other is None or fault.thread is None or other.thread is None or fault.block != other.block:
        return False
    # With several rows of threads, the number of a thread depends on the block's shape.
    return fault.thread[1:] != other.thread[1:] or fault.thread[0] // 32 == other.thread[0] // 32


def with_cause(
    message: str,
    mismatch: Mismatch,
    artifact: Artifact,
    source: str,
    *,
    is_byte: bool,
    has_halves: bool,
    wording: Wording = CUDA,
) -> str:
    """Returns the message of a wrong answer with the cause that its numbers, or the compiled code, suggest.

    ``is_byte``: the wrong output's elements are bytes; ``has_halves`` is as for ``precision``.
    """
    if mismatch.imprecise is not None:
        causes = precision(artifact.library, source, artifact.file_name, has_halves=has_halves)
        return with_precision(message, mismatch.imprecise, causes)
    # Quantized numbers are bytes; of other integers, off by one is a matter of counting.
    cause = rounding(mismatch) if is_byte else ""
    cause = cause or wrapped(mismatch)
    cause = cause or start_of_atomic(mismatch, artifact.library, source, artifact.file_name, wording)
    cause = cause or kept_in_float(mismatch, artifact.library, source, artifact.file_name)
    cause = cause or arrays_at_one_address(artifact.library, source)
    return f"{without_questions(message)}; {cause}" if cause else message


def rounding(mismatch: Mismatch) -> str:
    """Returns that half-way cases are rounded to the wrong side, if all wrong integers look like that; else nothing.

    A half-way case goes to the even number, so that what is expected is even, and one that goes to the other side is
    off by one: away from zero or upward each time, as ``roundf`` and ``floorf(x + 0.5f)`` have it.
    """
    if mismatch.max_abs_error != 1 or mismatch.count < _FEWEST_ROUNDED:
        return ""
    pairs = [
        (want, have)
        for want, have in zip(mismatch.expected, mismatch.got, strict=True)
        if isinstance(want, int) and isinstance(have, int)
    ]
    if len(pairs) < _FEWEST_ROUNDED or any(want % 2 for want, _ in pairs):
        return ""
    if all(abs(have) - abs(want) == 1 for want, have in pairs) or all(have - want == 1 for want, have in pairs):
        return (
            "each wrong number is one step above an even one, as at a half-way case: round to even (rintf), and scale "
            "in the statement's order"
        )
    return ""


def wrapped(mismatch: Mismatch) -> str:
    """Returns that counts wrapped around, if all wrong integers are too small by what that takes; else nothing.

    One number alone may be off by a multiple of 256 by chance, but not of 65,536.
    """
    pairs = list(zip(mismatch.expected, mismatch.got, strict=True))
    missing: list[int] = []
    for want, have in pairs:
        if not isinstance(want, int) or not isinstance(have, int) or have < 0:
            return ""
        missing.append(want - have)
    # Zeros alone may be of a store that is missing.
    if not missing or min(missing) <= 0 or not any(mismatch.got):
        return ""
    for bits in (16, 8):
        if all(each % (1 << bits) == 0 for each in missing) and (bits == 16 or len(missing) >= _FEWEST_WRAPPED):
            each_time, or_fewer = " each time" if len(missing) > 1 else "", " or fewer" if bits > 8 else ""
            wraps = f"does a count or sum of {bits} bits{or_fewer} wrap around?"
            return f"a multiple of {1 << bits:,} is missing{each_time}: {wraps}"
    return ""


def start_of_atomic(
    mismatch: Mismatch, library: bytes, source: str, file_name: str = MAIN, wording: Wording = CUDA
) -> str:
    """Returns that an atomic maximum or minimum kept the number it started from, if the numbers look like that.

    All that is wrong is then one number beyond everything that was expected, such as the 0 of a memset.
    """
    pairs = list(zip(mismatch.expected, mismatch.got, strict=True))
    # There are no numbers where a pack's own check refused the answer.
    started = mismatch.got[0] if pairs else ""
    if started not in _SET_BY_BYTES or any(have != started or isinstance(want, str) for want, have in pairs):
        return ""
    assert not isinstance(started, str)
    is_above = all(not isinstance(want, str) and want < started for want, _ in pairs)
    is_below = all(not isinstance(want, str) and want > started for want, _ in pairs)
    if is_above == is_below:
        return ""
    kind, end = ("max", wording.lowest) if is_above else ("min", wording.highest)
    own = own_lines(source, file_name)
    for text in ptx_texts(library):
        for function in read_ptx(text, own):
            for instruction in function.listing:
                found = _ATOMIC_EXTREME.search(instruction.text)
                if found is not None and found[1] == kind:
                    line = "" if instruction.line is None else f" on {own.in_words(instruction.line)}"
                    return (
                        f"the atomic {'maximum' if is_above else 'minimum'}{line} may have started at {started:g}, as "
                        f"a memset leaves it, and no number is {'above' if is_above else 'below'} that: start from "
                        f"{end}, or the type's {'least' if is_above else 'largest'} integer"
                    )
    return ""


def kept_in_float(mismatch: Mismatch, library: bytes, source: str, file_name: str = MAIN) -> str:
    """Returns that wrong integers were floats before, if all of them are what a float has near the right ones.

    Beyond 2^24 it has but every second integer, and adding 1 to 2^24 leaves that.
    """
    pairs = list(zip(mismatch.expected, mismatch.got, strict=True))
    for want, have in pairs:
        if not isinstance(want, int) or not isinstance(have, int) or abs(want) <= _EXACT_FLOATS:
            return ""
        is_stuck = abs(have) == _EXACT_FLOATS and have * want > 0
        if not is_stuck and abs(have - want) > _ROUNDED_SHARE * abs(want):
            return ""
        if int(np.float32(have)) != have:
            return ""
    own = own_lines(source, file_name)
    for text in ptx_texts(library) if pairs else ():
        for function in read_ptx(text, own):
            for instruction in function.listing:
                if instruction.line is not None and _FROM_FLOAT.search(instruction.text):
                    line = own.in_words(instruction.line)
                    return (
                        f"a float becomes an integer on {line}: beyond 2^24 a float does not hold every integer, so "
                        "count and add in integers"
                    )
    return ""


def precision(library: bytes, source: str, file_name: str = MAIN, *, has_halves: bool) -> tuple[str, ...]:
    """Returns the parts of a submission's code with less precision than a float: each kind once, and its first lines.

    ``library`` is the built one, and ``file_name`` what the source was compiled as. With ``has_halves``, arguments of
    ``solve`` are halves or bfloat16s, so that conversions to them tell nothing unless they are undone, and sums of them
    do.
    """
    own = own_lines(source, file_name)
    # In Python // divides.
    has_c_comments = file_name == MAIN
    blanked = _COMMENTS.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source) if has_c_comments else source
    plain = blanked.split("\n")
    found: dict[tuple[int, str], None] = {}
    products: dict[tuple[int, str], None] = {}
    for text in ptx_texts(library):
        for function in read_ptx(text, own):
            between = _rounded_between(function.listing) if has_halves else frozenset()
            for number, instruction in enumerate(function.listing):
                line = instruction.line
                what = "" if line is None else _less_precise(instruction.text, plain, line, has_halves=has_halves)
                if number in between and not what:
                    kind = "bfloat16" if "bf16" in instruction.text else "half precision"
                    what = f"a float is rounded to {kind}, and computed with"
                if line is not None and what:
                    found[line, what] = None
                if line is not None and has_halves and _PRODUCT_OF_HALVES.search(instruction.text):
                    products[line, "products are rounded to half precision"] = None
    # Some products of halves are exact, and some may be rounded: they are named where nothing else is.
    by_kind: dict[str, list[str]] = {}
    for line, what in sorted(found or products):
        by_kind.setdefault(what, []).append(own.in_words(line))
    return tuple(f"{what} ({_first_of(lines)})" for what, lines in by_kind.items())


def _rounded_between(listing: Sequence[Instruction]) -> frozenset[int]:
    """Returns the numbers of the instructions that round a float to a half which becomes a float again."""
    again, literals = set[str](), set[str]()
    for instruction in listing:
        again.update(_OUT_OF_HALF.findall(instruction.text))
        literals.update(_LITERAL.findall(instruction.text))
    return frozenset(
        number
        for number, instruction in enumerate(listing)
        for half, rounded in _INTO_HALF.findall(instruction.text)
        if half in again and rounded not in literals
    )


def _first_of(names: Sequence[str]) -> str:
    """Returns the first names of a list, and how many more there are."""
    more = len(names) - _MOST_CAUSES
    return ", ".join(names[:_MOST_CAUSES]) + (f" and {more} more" if more > 0 else "")


def arrays_at_one_address(library: bytes, source: str) -> str:
    """Returns which ``extern __shared__`` arrays a kernel uses at one address; empty where none uses two."""
    if len(_EXTERN_SHARED.findall(source)) < 2:
        return ""
    own = own_lines(source)
    for text in ptx_texts(library):
        names = _EXTERN_ARRAYS.findall(text)
        for function in read_ptx(text, own) if len(names) > 1 else ():
            first: dict[str, int | None] = {}
            for instruction in function.listing:
                for name in set(_NAMES.findall(instruction.text)).intersection(names):
                    first.setdefault(name, instruction.line)
            if len(first) > 1:
                uses = [name if line is None else f"{name} ({own.in_words(line)})" for name, line in first.items()]
                return f"{' and '.join(uses)} begin at the same address, as all extern __shared__ arrays of a kernel do"
    return ""


def _less_precise(code: str, source: Sequence[str], line: int, *, has_halves: bool) -> str:
    if (tensor := _TENSOR.search(code)) and not (has_halves and tensor[1] != "tf32") and 0 < line <= len(source):
        remedy = (
            ': input_precision="ieee" keeps them' if tensor[1] == "tf32" and _TRITON_DOT in source[line - 1] else ""
        )
        return f"its factors are rounded to {_TENSOR_NAMES[tensor[1]]}{remedy}"
    if has_halves and _SUM_OF_HALVES.search(code):
        return "sums are rounded to half precision"
    if not has_halves and _TO_HALF.search(code):
        return "a float is rounded to half precision"
    if not has_halves and _TO_BFLOAT.search(code):
        return "a float is rounded to bfloat16"
    if _TEXTURE.search(code) and any(_LINEAR in text for text in source):
        return "a texture that interpolates knows places to 8 bits behind the point"
    if _APPROXIMATE.search(code) and 0 < line <= len(source) and (named := _INTRINSIC.search(source[line - 1])):
        return f"{named[1]} is a fast approximation"
    return ""


def ptx_texts(library: bytes) -> list[str]:
    """Returns the PTX in a library; none where there is none, or nothing that can be read."""
    texts: list[str] = []
    for binary in fat_binaries(library):
        with contextlib.suppress(fatbinary.FatBinaryError):
            texts += [image.text for image in fatbinary.ptx_images(binary)]
    return texts


def with_precision(message: str, times: float | None, causes: Sequence[str]) -> str:
    """Returns the message of an imprecise answer with its likely causes behind the size of the error."""
    begins = imprecision(times, has_cause=True)
    if not begins or not causes:
        return message
    return f"{begins}{_first_of(causes)}; {without_questions(message.removeprefix(begins))}"
