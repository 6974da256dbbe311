from __future__ import annotations

import pytest

from web.security import safe_next


@pytest.mark.parametrize("target", ["/", "/challenges/softmax", "/submissions?challenge=gemm", "/a#b"])
def test_paths_of_this_site_are_followed(target: str) -> None:
    assert safe_next(target, "/home") == target


@pytest.mark.parametrize(
    "target",
    [
        None,
        "",
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "/\t/evil.example",
        "/\n/evil.example",
        "evil.example",
        " /x",
        "///evil.example",
    ],
)
def test_everything_else_is_not(target: str | None) -> None:
    assert safe_next(target, "/home") == "/home"
