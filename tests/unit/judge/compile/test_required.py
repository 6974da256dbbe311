"""Kernels that name the architecture they need."""

from __future__ import annotations

import pytest

from judge.compile.required import required_architecture, unmet


@pytest.mark.parametrize(
    ("source", "named"),
    [
        (b"// gpujudge: arch=sm_90a\n", "sm_90a"),
        (b"// Says more.\n//  gpujudge: challenge=gemm arch=sm_90 device=cuda:0\r\nint a;", "sm_90"),
        (b"// gpujudge: challenge=gemm\n", None),
        (b"// gpujudge: file=a.cuh\n// gpujudge: arch=sm_80\n", "sm_80"),
        (b"// takes arch=sm_90a\n", None),
        (b" " * 5000 + b"\n// gpujudge: arch=sm_90a\n", None),
        (b"", None),
    ],
)
def test_the_line_is_read(source: bytes, named: str | None) -> None:
    assert required_architecture(source) == named


@pytest.mark.parametrize(
    ("required", "arch", "met"),
    [
        ("sm_90a", "sm_90", True),
        ("sm_90a", "sm_90a", True),
        ("sm_90a", "compute_80", False),
        ("sm_90a", "compute_90", False),
        ("sm_90a", "sm_89", False),
        ("sm_90a", "sm_100", False),
        ("sm_80", "compute_80", True),
        ("sm_80", "sm_90", True),
        ("sm_90", "compute_80", False),
        ("sm_90", "sm_120", True),
        ("sm_100f", "sm_100", True),
    ],
)
def test_only_what_the_target_lacks_is_unmet(required: str, arch: str, met: bool) -> None:
    problem = unmet(f"// gpujudge: arch={required}\n".encode(), arch)
    assert (problem is None) == met
    if problem is not None:
        assert f"This kernel needs {required}" in problem
        assert "Choose a GPU of that architecture" in problem


@pytest.mark.parametrize("name", ["hopper", "sm_9", "compute_90", "sm_90b", "90a"])
def test_other_names_are_refused(name: str) -> None:
    problem = unmet(f"// gpujudge: arch={name}\n".encode(), "sm_90")
    assert problem is not None
    assert "names no architecture" in problem


def test_a_source_that_names_none_is_for_all() -> None:
    assert unmet(b"int a;", "compute_80") is None
