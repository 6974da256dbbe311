"""Syntax highlighting of sources as HTML with classes, which the site's style sheet colors.

One regular expression a grammar matches every colored token. Each alternative always finds an end, so the time is
linear in the length of any text; a library's lexer can take minutes for sources of the largest size.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator

from markupsafe import Markup, escape

_KEYWORDS = (
    "alignas alignof asm auto break case catch class concept const const_cast consteval constexpr constinit "
    "continue decltype default delete do dynamic_cast else enum explicit export extern for friend goto if inline "
    "mutable namespace new noexcept operator private protected public register reinterpret_cast requires return "
    "sizeof static static_assert static_cast struct switch template this throw try typedef typeid typename union "
    "using virtual volatile while true false nullptr __restrict__ __restrict __forceinline__ __noinline__ "
    "__global__ __device__ __host__ __shared__ __constant__ __managed__ __grid_constant__ __launch_bounds__"
)
_TYPES = (
    "void bool char short int long signed unsigned float double half half2 __half __half2 __nv_bfloat16 "
    "__nv_bfloat162 size_t ssize_t ptrdiff_t wchar_t char8_t char16_t char32_t dim3 uint int8_t int16_t int32_t "
    "int64_t uint8_t uint16_t uint32_t uint64_t float2 float3 float4 double2 int2 int3 int4 uint2 uint3 uint4 "
    "char4 uchar4"
)
_BUILTINS = ["threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "__syncthreads", "__syncwarp", "__ldg"]
_WORDS = {
    **dict.fromkeys(_KEYWORDS.split(), "tok-k"),
    **dict.fromkeys(_TYPES.split(), "tok-kt"),
    **dict.fromkeys(_BUILTINS, "tok-nb"),
}
#: Each alternative takes what it begins: a comment or a literal that is not closed ends with the text or its line.
_TOKEN = re.compile(
    r"(?P<comment>//(?:[^\\\n]++|\\.|\\\n)*+|/\*(?:.*?\*/|.*+))"
    r'|(?P<string>R"(?P<delimiter>[^()\\\s"]{0,16})\((?:.*?\)(?P=delimiter)"|.*+)|"(?:[^"\\\n]++|\\.)*+"?+'
    r"|'(?:[^'\\\n]++|\\.)*+'?+)"
    r"|(?P<directive>^[ \t]*+#[ \t]*+\w*+)"
    r"|(?P<word>[A-Za-z_]\w*+)"
    r"|(?P<number>\d(?:[\w.']++)?+)",
    re.DOTALL | re.MULTILINE,
)
_CLASSES = {"comment": "tok-c", "string": "tok-s", "directive": "tok-cp", "number": "tok-m"}

_PYTHON_WORDS = {
    **dict.fromkeys(keyword.kwlist, "tok-k"),
    **dict.fromkeys(["int", "float", "bool", "str", "tuple", "list", "dict"], "tok-kt"),
    **dict.fromkeys(["tl", "triton", "torch", "range", "len", "min", "max", "abs", "print"], "tok-nb"),
}
_PYTHON_TOKEN = re.compile(
    r"(?P<comment>#[^\n]*+)"
    r"|(?P<string>\"\"\"(?:.*?\"\"\"|.*+)|'''(?:.*?'''|.*+)|\"(?:[^\"\\\n]++|\\.)*+\"?+|'(?:[^'\\\n]++|\\.)*+'?+)"
    r"|(?P<directive>^[ \t]*+@[\w.]++)"
    r"|(?P<word>[A-Za-z_]\w*+)"
    r"|(?P<number>\d(?:[\w.]++)?+)",
    re.DOTALL | re.MULTILINE,
)
_NOTHING = re.compile(r"(?!)")
#: By the name of a grammar (judge.languages): what finds tokens, and the classes of words.
_GRAMMARS = {"cuda": (_TOKEN, _WORDS), "python": (_PYTHON_TOKEN, _PYTHON_WORDS)}


def highlight_lines(source: str, grammar: str = "cuda") -> list[Markup]:
    """Returns one piece of HTML per line. Tokens that span lines, such as comments, are split.

    Of a ``grammar`` that is not known, nothing is colored.
    """
    # Blank lines are kept: line numbers must match the compiler's.
    text = source.replace("\r\n", "\n").replace("\r", "\n")
    lines = [Markup(line) for line in "".join(_pieces(text, grammar)).split("\n")]  # noqa: S704 (text is escaped)
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    return lines


def highlight_block(source: str, grammar: str = "cuda") -> Markup:
    """Returns the whole source as one piece of HTML."""
    return Markup("\n").join(highlight_lines(source, grammar)) + ("\n" if source.endswith("\n") else "")


def _pieces(text: str, grammar: str) -> Iterator[str]:
    """Yields pieces of HTML in which every tag is closed before its line ends."""
    token, words = _GRAMMARS.get(grammar, (_NOTHING, {}))
    at = 0
    for match in token.finditer(text):
        kind = match.lastgroup if match.lastgroup != "delimiter" else "string"
        css = words.get(match[0]) if kind == "word" else _CLASSES[str(kind)]
        if css is None:
            continue
        if at < match.start():
            yield str(escape(text[at : match.start()]))
        opening = f'<span class="{css}">'
        inside = str(escape(match[0]))
        if "\n" in inside:
            inside = inside.replace("\n", f"</span>\n{opening}")
        yield f"{opening}{inside}</span>"
        at = match.end()
    yield str(escape(text[at:]))
