from __future__ import annotations

import pytest

from judge.compile.adapter import make_adapter
from judge.compile.signature import Signature, difference, find_definitions, parse_parameters

EXPECTED = parse_parameters("const float* input, float* output, int N")


def found(text: str) -> Signature:
    (only,) = find_definitions(text)
    return only


@pytest.mark.parametrize(
    "definition",
    [
        'extern "C" void solve(const float* input, float* output, int N) {}',
        "void solve(float* a, float* b, int c) {}",
        "void solve(const float *__restrict__ in, float *__restrict out, const int n) {}",
        "void solve(float const* a, float* const b, int) {}",
        "void solve(const float*, float*, int) {}",
        "void solve(const float in[], float out[], int n) {}",
        "void solve(const float* in, float* out, int n) noexcept {}",
        "void solve(const void* in, void* out, int32_t n)\n{\n}",
        "void solve(const float4* in, float2* out, int n) {}",
        "void solve([[maybe_unused]] const float* in, float* out __attribute__((unused)), int n) {}",
        "using T = float; void solve(const T* in, T* out, int n) {}",
        "typedef const float* In; typedef float Out; void solve(In in, Out* out, int n) {}",
        "using T = Unknown; void solve(const T* in, T* out, int n) {}",
        "void solve(const some::Type* in, Thing out, Size n) {}",
        "void solve(std::vector<float> in, void (*callback)(int, int), int n) {}",
        "// solve(int x) {\nvoid solve(const float* in, /* the output, of course */ float* out, int n = 3) {}",
        "#define WRONG void solve(int) {\nvoid solve(const float* in, float* out, int n) {}",
        "void helper() { solve(1, 2); }\nvoid solve(const float* in, float* out, int n) {}",
        "struct S { void run() { this->solve(1); s.solve(2); } };\nvoid solve(const float* i, float* o, int n) {}",
    ],
)
def test_forms_of_the_right_signature(definition: str) -> None:
    assert difference(EXPECTED, found(definition)) is None


@pytest.mark.parametrize(
    ("definition", "says"),
    [
        ("void solve() {}", "no parameters instead of 3"),
        ("void solve(void) {}", "no parameters instead of 3"),
        ("void solve(const float* in) {}", "1 parameter instead of 3"),
        ("void solve(const float* in, float* out, int n, int m) {}", "4 parameters instead of 3"),
        ("void solve(const float* in, float* out, int* n) {}", "parameter 3 is `int* n` instead of `int N`"),
        ("void solve(float in, float* out, int n) {}", "parameter 1 is `float in`"),
        ("void solve(const double* in, float* out, int n) {}", "parameter 1 is `const double* in`"),
        ("void solve(const int* in, float* out, int n) {}", "parameter 1"),
        ("void solve(const __half* in, float* out, int n) {}", "parameter 1"),
        ("void solve(const float* in, float** out, int n) {}", "parameter 2"),
        ("void solve(const float* in, float& out, int n) {}", "parameter 2"),
        ("void solve(const float* in, float* out, float n) {}", "parameter 3"),
        ("void solve(const float* in, float* out, short n) {}", "parameter 3"),
        ("void solve(const float* in, float* out, bool n) {}", "parameter 3 is `bool n` instead of `int N`"),
        ("void solve(const float* in, float* out, const size_t& n) {}", "parameter 3"),
        ("void solve(const float* in, float* out, double n) {}", "parameter 3"),
        ("void solve(const float* in, const unsigned* out, size_t n) {}", "parameter 2"),
        ("void solve(size_t n, const float* in, float* out) {}", "parameter 1"),
        ("using T = double; void solve(const T* in, T* out, int n) {}", "parameter 1"),
    ],
)
def test_clear_differences(definition: str, says: str) -> None:
    assert says in (difference(EXPECTED, found(definition), converting=True) or "")


@pytest.mark.parametrize(
    "type_",
    ["size_t", "std::size_t", "long", "const long", "unsigned long long", "unsigned", "uint32_t", "Size"],
)
def test_an_integer_that_holds_the_value_is_converted(type_: str) -> None:
    taken = found(f"using Size = int64_t; void solve(const float* in, float* out, {type_} n) {{}}")
    assert difference(EXPECTED, taken) == f"parameter 3 is `{type_} n` instead of `int N`"
    assert difference(EXPECTED, taken, converting=True) is None
    adapter = make_adapter("solve", EXPECTED, taken)
    assert adapter is not None
    assert adapter.notes == (
        f"parameter 3 of `solve` is `{type_} n` and the challenge passes `int N`: the value is converted",
    )


@pytest.mark.parametrize(
    "text", ["int x;", "void solve(int a, float* b);", "solve(1);", "#define solve(x) {", "void solve(int"]
)
def test_no_definition_can_be_made_out(text: str) -> None:
    assert find_definitions(text) == []


@pytest.mark.parametrize(
    ("wanted", "given", "same"),
    [
        ("half* x", "__half* x", True),
        ("const int8_t* x", "signed char const*", True),
        ("const int8_t* x", "const char* x", True),
        ("const uint8_t* x", "unsigned char*", True),
        ("const int8_t* x", "const int* x", False),
        ("half* x", "float* x", False),
        ("half* x", "__half2* x", True),
        ("size_t n", "unsigned long", True),
        ("size_t n", "int n", False),
        ("size_t n", "long long n", False),
        ("const unsigned int* x", "const int* x", False),
        ("const int* x", "const int4* x", True),
        ("const uint8_t* x", "const char* x", True),
        ("const bool* x", "const unsigned char* x", True),
        ("unsigned int n", "uint32_t n", True),
        ("int64_t* x", "long*", True),
        ("float x", "double x", False),
        ("float x", "int x", False),
        ("long double x", "double x", True),
    ],
)
def test_types_by_what_they_are(wanted: str, given: str, same: bool) -> None:
    assert (difference(parse_parameters(wanted), parse_parameters(given)) is None) is same


def test_overloads_are_all_found() -> None:
    text = "void solve(int* a) {}\nvoid solve(const float* a, float* b, int n) {}"
    assert [signature.text for signature in find_definitions(text)] == [
        "void solve(int* a)",
        "void solve(const float* a, float* b, int n)",
    ]
