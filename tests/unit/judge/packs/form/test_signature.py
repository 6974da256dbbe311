from __future__ import annotations

import numpy as np
import pytest

from judge.packs.form.argument import Argument
from judge.packs.form.expressions import parse_expression
from judge.packs.form.signature import SignatureError, header, parse_c_type, parse_signature, prototype
from judge.wire.elements import C_NAMES, ELEMENTS, Element


def argument(name: str, c_type: str, role: str) -> Argument:
    element, is_pointer, *_ = parse_c_type(c_type)
    shape = (parse_expression("M"), parse_expression("2*N")) if is_pointer else ()
    return Argument(name, c_type, role, element, shape, description=f"about {name}")  # type: ignore[arg-type]


ARGUMENTS = (
    argument("A", "const half*", "in"),
    argument("C", "int8_t*", "inout"),
    argument("alpha", "float", "scalar"),
)


@pytest.mark.parametrize(
    ("c_type", "element", "is_pointer", "is_const"),
    [
        ("const float*", Element.FLOAT32, True, True),
        ("unsigned char*", Element.UINT8, True, False),
        ("const unsigned int*", Element.UINT32, True, True),
        ("half*", Element.FLOAT16, True, False),
        ("int", Element.INT32, False, False),
        ("size_t", Element.UINT64, False, False),
    ],
)
def test_types(c_type: str, element: Element, is_pointer: bool, is_const: bool) -> None:
    assert parse_c_type(c_type) == (element, is_pointer, is_const, 1)


@pytest.mark.parametrize(
    ("c_type", "element", "lanes"),
    [("const float4*", Element.FLOAT32, 4), ("float2 *", Element.FLOAT32, 2), ("__half2*", Element.FLOAT16, 2)],
)
def test_vectors(c_type: str, element: Element, lanes: int) -> None:
    found = parse_c_type(c_type)
    assert (found.element, found.is_pointer, found.lanes) == (element, True, lanes)


def test_signatures_are_taken_apart() -> None:
    text = """extern "C" void solve(const float *input, __nv_bfloat16* out,
                                     unsigned int N, size_t bytes);"""
    assert tuple((c_type, name) for c_type, name, _ in parse_signature(text)) == (
        ("const float*", "input"),
        ("__nv_bfloat16*", "out"),
        ("unsigned int", "N"),
        ("size_t", "bytes"),
    )


@pytest.mark.parametrize(
    "text", ["void solve()", "int solve(int N)", "void solve(int)", "void solve(int N, )", "void solve(float** x)"]
)
def test_other_signatures_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must"):
        parse_signature(text)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("void solve(const float* A, flaot* B, int N)", "flaot"),
        ("void solve(float* A,  const   half s)", "const   half"),
        ("void solve(float* A, int N, int N)", "N)"),
        ("void solve(float* A, int)", "int)"),
        ("  int solve(float* A)", "int"),
        ("void sovle(float* A)", "sovle"),
        ("void solve float* A)", "float"),
        ("void solve(float* A) const", " const"),
    ],
)
def test_a_wrong_signature_is_told_at_the_character(text: str, wrong: str) -> None:
    with pytest.raises(SignatureError) as caught:
        parse_signature(text)
    assert caught.value.at == text.rindex(wrong)
    assert f"(at character {text.rindex(wrong) + 1})" in str(caught.value)


def test_a_missing_parenthesis_is_told_at_the_end() -> None:
    with pytest.raises(SignatureError) as caught:
        parse_signature("void solve(float* A ")
    assert caught.value.at == len("void solve(float* A")


@pytest.mark.parametrize("c_type", ["float**", "flaot", "", "const*", "volatile float*", "float &", "float4"])
def test_other_types_are_refused(c_type: str) -> None:
    with pytest.raises(ValueError, match="unknown type"):
        parse_c_type(c_type)


def test_sizes_in_numpy_are_those_in_c() -> None:
    sizes = {"half": 2, "int": 4, "unsigned int": 4, "float": 4, "double": 8, "size_t": 8, "unsigned char": 1}
    assert {name: C_NAMES[name][0].facts.size_bytes for name in sizes} == sizes
    assert all(np.dtype(facts.numpy_name).itemsize == facts.size_bytes for facts in ELEMENTS.values())


def test_header_includes_what_the_signature_needs() -> None:
    text = header(ARGUMENTS)
    assert prototype(ARGUMENTS) == 'extern "C" void solve(const half* A, int8_t* C, float alpha);'
    assert prototype(ARGUMENTS) in text
    for include in ("<cuda_runtime.h>", "<cuda_fp16.h>", "<cstdint>"):
        assert f"#include {include}" in text
    assert "<cuda_fp16.h>" not in header((argument("x", "float*", "out"),))
