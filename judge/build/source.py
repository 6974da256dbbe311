"""Checks on a source before any compiler sees it, and the little C++ reading that build and diagnostics need."""

from __future__ import annotations

import re

#: Comments, string and character literals (raw strings too), in one pass so that neither is taken for the other.
_NOISE = re.compile(
    r"""//(?:[^\\\n]|\\\n|\\.)*|/\*.*?\*/|(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)\"|"""
    r""""(?:[^"\\\n]|\\.)*"|(?<![0-9A-Fa-f])'(?:[^'\\\n]|\\.)*'""",
    re.DOTALL,
)
_SOLVE = re.compile(r"\bsolve\b")
_KERNEL_SOLVE = re.compile(r"__global__[^;{}()]*(?:__launch_bounds__\s*\([^)]*\)[^;{}()]*)?\bsolve\s*\(")


def check_source(source: bytes, *, limit_bytes: int, signature: str) -> str | None:
    """What is wrong with the source, in words for its author; None when a compiler should see it.

    ``signature`` is the one asked for, shown where there is no ``solve``.
    """
    if not source.strip():
        return "The source is empty."
    if len(source) > limit_bytes:
        return f"The source has {len(source):,} bytes; at most {limit_bytes:,} are taken."
    if b"\0" in source:
        return f"The source contains a NUL byte at offset {source.index(0)}: it is not a text."
    try:
        text = source.decode("utf-8")
    except UnicodeDecodeError as error:
        line = source[: error.start].count(b"\n") + 1
        return f"The source is not UTF-8: byte 0x{source[error.start]:02x} on line {line}."
    code = strip_noise(text)
    if not _SOLVE.search(code):
        return f"There is no function `solve` in the source. It must define:\n  {signature}"
    if _KERNEL_SOLVE.search(code):
        return (
            "`solve` is declared __global__, but it is called on the host: give the kernel another name, and "
            f"launch it from:\n  {signature}"
        )
    return None


def strip_noise(text: str) -> str:
    """The text with comments as one space and literals as empty ones; preprocessor lines stay."""
    return _NOISE.sub(lambda match: " " if match[0].startswith("/") else '""', text)
