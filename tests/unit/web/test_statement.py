from __future__ import annotations

import re

from tests.builds import ROOT
from web.statement import render_statement


def test_maths_becomes_mathml() -> None:
    html = render_statement("Let $a < b_1$ and\n\n$$\\sum_{i} x_i$$\n")
    assert '<span class="math inline"><math display="inline">' in html
    assert "<mo>&lt;</mo><msub><mi>b</mi><mn>1</mn></msub>" in html
    assert '<math display="block"><mrow><munder><mo>∑</mo>' in html.replace("&#x02211;", "∑")


def test_a_number_with_thousands_is_one_number() -> None:
    assert "<mtext>16,384</mtext>" in render_statement("$N \\le 16,384$")
    assert "<mtext>" not in render_statement("$x_{1,2}$, $(10,20)$, $(1,200,3)$")


def test_what_is_no_latex_stays_as_it_is_and_harms_nobody() -> None:
    html = render_statement("$\\frac{a}$ and $\\text{<script>alert(1)</script>}$ and $\\href{javascript:x}{y}$")
    assert "<script" not in html
    assert 'href="javascript' not in html


def test_the_formulae_of_all_challenges_are_known() -> None:
    for statement in sorted((ROOT / "challenges").glob("*/statement.md")):
        html = render_statement(statement.read_text("utf-8"))
        for maths in re.findall(r'class="math [^>]*>(.*?)</(?:span|div)>', html, re.DOTALL):
            assert maths.strip().startswith("<math"), (statement, maths)
            assert "\\" not in maths, (statement, maths)


def test_the_title_is_not_said_twice() -> None:
    assert "Reduction" not in render_statement("# Reduction\n\nAdd up.")


def test_code_is_highlighted_by_class() -> None:
    html = render_statement("```cpp\nfloat x;\n```")
    assert '<span class="tok-' in html
    assert "style=" not in html


def test_tables_and_links_work() -> None:
    html = render_statement("| a | b |\n|---|---|\n| 1 | 2 |\n\n[page](https://example.org/)")
    assert "<table>" in html
    assert 'href="https://example.org/"' in html
    assert "nofollow" in html


def test_markup_and_scripts_do_not_pass() -> None:
    html = render_statement("<script>alert(1)</script> <img src=x onerror=alert(1)> [x](javascript:alert(1))")
    assert "<script" not in html
    assert "<img" not in html
    assert 'href="javascript' not in html


def test_code_scrolls_by_the_keyboard_and_a_title_that_names_its_tag_stays_text() -> None:
    html = render_statement('[x](http://a "<pre><script>alert(1)</script>")\n\n    code\n')
    assert "<script" not in html
    assert html.count("<pre") == html.count('<pre tabindex="0">') == 1
