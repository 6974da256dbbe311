from __future__ import annotations

from web.statement import render_statement


def test_maths_stays_latex_for_the_browser() -> None:
    html = render_statement("Let $a < b_1$ and\n\n$$\\sum_{i} x_i$$\n")
    assert '<span class="math inline">a &lt; b_1</span>' in html
    assert '<div class="math block">' in html
    assert "\\sum_{i} x_i" in html


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
