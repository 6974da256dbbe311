from __future__ import annotations

import pytest

from judge.compile.source import check_source, strip_noise

SIGNATURE = "void solve(const float* input, float* output, int N)"


def check(source: bytes, limit_bytes: int = 1000) -> str | None:
    return check_source(source, limit_bytes=limit_bytes, signature=SIGNATURE)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (b"", "empty"),
        (b" \n\t\n", "empty"),
        (b"x" * 1001, "1,001 bytes; at most 1,000"),
        (b"void solve() {}\0", "NUL byte at offset 15"),
        (b"// fine\nvoid solve() {} // \xff\n", "not UTF-8: byte 0xff on line 2"),
        (b"int main() {}", "no function `solve`"),
        (b"// void solve(int) {}\nvoid resolve() {}", "no function `solve`"),
        (b'const char* s = "void solve()";', "no function `solve`"),
        (b"import triton\n\ndef solve(a):\n    pass\n", "sent as CUDA C++"),
        (b"__global__ void solve(float* a) {}", "declared __global__"),
        (b"__global__ void __launch_bounds__(256) solve(float* a) {}", "declared __global__"),
    ],
)
def test_what_is_wrong_is_said(source: bytes, says: str) -> None:
    problem = check(source)
    assert problem is not None
    assert says in problem


def test_a_source_without_solve_is_shown_the_signature() -> None:
    assert SIGNATURE in (check(b"int x;") or "")


@pytest.mark.parametrize(
    "source",
    [
        b'extern "C" void solve(float* a) {}',
        "// наивный · naïve\nvoid solve() {}".encode(),
        b"__global__ void k(float* a) {}\nvoid solve(float* a) { k<<<1, 1>>>(a); }",
        b"\xef\xbb\xbfvoid solve() {}",
        b"/* In Python:\nimport triton\ndef solve(a): ...\n*/\n#include <cuda_runtime.h>\nvoid solve(float* a) {}",
    ],
)
def test_what_a_compiler_should_see(source: bytes) -> None:
    assert check(source) is None


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("a /* solve */ b", "a   b"),
        ("a // solve\nb", "a  \nb"),
        ('f("/* not a comment", x /* one */)', 'f("", x  )'),
        (r'"\" // quoted" y', '"" y'),
        ("1'000'000 + x", "1'000'000 + x"),
        ('R"(solve " )" z', '"" z'),
        ('R"ab(solve )" )ab" z', '"" z'),
        ("'\"' solve '\"'", '"" solve ""'),
    ],
)
def test_comments_and_literals_are_told_apart(text: str, rest: str) -> None:
    assert strip_noise(text) == rest
