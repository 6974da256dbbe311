from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from web.source import highlight_lines


def _text(html: Markup) -> str:
    return str(Markup(re.sub(r"<[^>]*>", "", html)).unescape())


def test_lines_have_the_compilers_numbers() -> None:
    lines = highlight_lines("\n\n/* a\n   comment */\nint x;\n\n")
    assert [_text(line) for line in lines] == ["", "", "/* a", "   comment */", "int x;", ""]


def test_tags_are_closed_within_each_line() -> None:
    for line in highlight_lines("/* a\nb\nc */ __global__ void f();"):
        assert line.count("<span") == line.count("</span>")


def test_source_cannot_become_markup() -> None:
    (line,) = highlight_lines('"</span><script>alert(1)</script>"')
    assert "<script" not in line


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r")))
def test_nothing_is_lost_or_added(source: str) -> None:
    shown = "\n".join(_text(line) for line in highlight_lines(source))
    assert shown == source or shown + "\n" == source


def test_what_has_a_colour() -> None:
    (line,) = highlight_lines('__global__ int f = 0x1F; // "no" string')
    assert str(line) == (
        '<span class="tok-k">__global__</span> <span class="tok-kt">int</span> f = '
        '<span class="tok-m">0x1F</span>; <span class="tok-c">// &#34;no&#34; string</span>'
    )
    assert '<span class="tok-cp">#include</span>' in highlight_lines("#include <a.h>")[0]
    assert str(highlight_lines('f("a\\"b", \'"\')')[0]).count("tok-s") == 2
