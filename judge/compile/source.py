"""Checks a source before any compiler sees it, and strips comments and literals from C++ text."""

from __future__ import annotations

import re

#: Comments, string and character literals (raw strings too), in one pass so that none is mistaken for another. One
#: that is not closed ends with its line, or with the text: so each character is read once, whatever the text. Each way
#: to begin is a plain character, since only then the search skips all others quickly.
_NOISE = re.compile(
    r"""//(?:[^\\\n]++|\\.)*+|/\*(?:.*?\*/|.*+)|"""
    r"""R(?:(?<!\wR)|(?<=\W[LUu]R)|(?<=\Wu8R))"(?P<delimiter>[^()\\\s]{0,16})\((?:.*?\)(?P=delimiter)\"|.*+)|"""
    r""""(?:[^"\\\n]++|\\.)*+"?+|'(?<![0-9A-Fa-f]')(?:[^'\\\n]++|\\.)*+'?+""",
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"^[ \t]*+#(?:[^\\\n]++|\\\n|\\)*+", re.MULTILINE)
_SOLVE = re.compile(r"\bsolve\b")
#: What begins a line of Python and none of C++.
#: What only a file in that language has. Either may hold the other in comments and texts.
PYTHON = re.compile(rb"^(?:import triton|from triton[\w.]* import|@triton[.]\w+|def solve[ \t]*\()", re.MULTILINE)
CUDA = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]|\b__global__\b|\bextern[ \t]+"C"', re.MULTILINE)
#: The words of a declaration that tell whether its name is ``solve``, and what ends them.
_KERNEL_WORDS = re.compile(r"__launch_bounds__\s*+\((?:[^()]*+\))?+|\bsolve\s*+\(|[;{}()]")


def check_source(source: bytes, *, limit_bytes: int, signature: str) -> str | None:
    """Returns the mistake in the source, in words for its author; None where a compiler should see it.

    ``signature`` is the expected one, shown where there is no ``solve``.
    """
    problem = check_text(source, limit_bytes=limit_bytes)
    if problem is not None:
        return problem
    if PYTHON.search(source) and not CUDA.search(source):
        return "This is Python, and it was sent as CUDA C++: choose Triton, or send it as a .py file."
    code = strip_noise(source.decode("utf-8"))
    if not _SOLVE.search(code):
        return f"There is no function `solve` in the source. It must define:\n  {signature}"
    if _declares_kernel(code):
        return (
            "`solve` is declared __global__, but it is called on the host: give the kernel another name, and "
            f"launch it from:\n  {signature}"
        )
    return None


def check_text(source: bytes, *, limit_bytes: int) -> str | None:
    """Returns the mistake in a source of any language; None where it is a text of an accepted size."""
    if not source.strip():
        return "The source is empty."
    if len(source) > limit_bytes:
        return f"The source has {len(source):,} bytes; at most {limit_bytes:,} are taken."
    if b"\0" in source:
        return f"The source contains a NUL byte at offset {source.index(0)}: it is not a text."
    try:
        source.decode("utf-8")
    except UnicodeDecodeError as error:
        line = source[: error.start].count(b"\n") + 1
        return f"The source is not UTF-8: byte 0x{source[error.start]:02x} on line {line}."
    return None


def _declares_kernel(code: str) -> bool:
    """Returns whether ``solve`` is declared ``__global__``, with launch bounds or without."""
    start = code.find("__global__")
    while start >= 0:
        end, bounded = len(code), False
        for match in _KERNEL_WORDS.finditer(code, start):
            if match[0].startswith("solve"):
                return True
            if bounded or not match[0].startswith("__launch_bounds__"):
                end = match.end()
                break
            bounded = True
        start = code.find("__global__", end)
    return False


def strip_noise(text: str) -> str:
    """Returns the text with comments as one space and literals as empty ones; preprocessor lines stay."""
    return _NOISE.sub(lambda match: " " if match[0][0] == "/" else '""', text)


def strip_directives(code: str) -> str:
    """Returns code, of which ``strip_noise`` took the comments, without its preprocessor lines."""
    return _DIRECTIVE.sub(" ", code)
