"""Kernels that name the architecture they need."""

from __future__ import annotations

import pytest

from judge.compile.required import architecture_for, required_architecture, unmet
from judge.compile.target import Target


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
        ("sm_90a", "compute_90a", True),
        ("sm_90", "compute_90a", True),
        ("sm_100a", "compute_90a", False),
        ("sm_100", "compute_90a", False),
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


@pytest.mark.parametrize(
    ("source", "specific"),
    [
        (b"int a;", False),
        (b"// gpujudge: arch=sm_80\nint a;", False),
        (b"// gpujudge: arch=hopper\nint a;", False),
        (b"// gpujudge: arch=sm_90\nint a;", True),
        (b"// gpujudge: arch=sm_90a\nint a;", True),
        (b'asm("wgmma.fence.sync.aligned;");', True),
    ],
)
def test_hoppers_instructions_are_compiled_for_where_a_source_uses_them(source: bytes, specific: bool) -> None:
    target = Target("emulator", "compute_80", "compute_90a")
    assert architecture_for(source, target) == ("compute_90a" if specific else "compute_80")


def test_a_device_without_them_compiles_all_sources_for_itself() -> None:
    source = b"// gpujudge: arch=sm_90a\nint a;"
    assert architecture_for(source, Target("emulator", "compute_80")) == "compute_80"
    assert architecture_for(source, Target("cuda", "sm_90")) == "sm_90"
