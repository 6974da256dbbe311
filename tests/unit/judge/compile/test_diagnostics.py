from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.compile.diagnostics import capped, headline, parse_resources, readable_log
from judge.compile.plan import MAX_RESOURCES_BYTES
from judge.judgement import KernelResources


def test_colours_controls_and_folders_are_gone() -> None:
    raw = (
        b"\x1b[31m/tmp/kernel.cu(3)\x1b[0m: error: bad\r\n  x = y;\n      ^\n\n"
        b"In file included from /cuda/bin/../targets/x86_64-linux/include/crt/host_config.h:3,\n"
        b"                 from /usr/include/c++/12/cmath:5\x07\n"
        b"/usr/bin/ld: kernel.o: in function `f':\n"
    )
    assert readable_log(raw, limit_bytes=10_000, hidden_folders=("/tmp",)) == (
        "kernel.cu(3): error: bad\n  x = y;\n      ^\n\n"
        "In file included from crt/host_config.h:3,\n                 from c++/12/cmath:5\n"
        "ld: kernel.cu: in function `f':"
    )


def test_both_halves_saying_the_same_say_it_once() -> None:
    warning = b'kernel.cu(1): warning #177-D: variable "x" was declared but never referenced\n  int x;\n      ^\n\n'
    remark = b'Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"\n\n'
    assert readable_log(warning + remark + warning, limit_bytes=1000).count("177-D") == 1


def test_repeated_lines_are_counted() -> None:
    log = readable_log(b"first\n" + b"again\n" * 50 + b"last\n", limit_bytes=1000)
    assert log == "first\nagain\n[... 49 more such lines]\nlast"


def test_ptxas_chatter_is_not_for_the_log_but_its_errors_are() -> None:
    raw = b"ptxas info    : 0 bytes gmem\nptxas error   : Entry function '_Z1kPi' uses too much shared data\n"
    assert readable_log(raw, limit_bytes=1000) == "ptxas error   : Entry function '_Z1kPi' uses too much shared data"


def test_a_launch_from_a_kernel_is_refused_in_words_of_the_judge() -> None:
    raw = (
        b"kernel.cu(2): error: kernel launch from __device__ or __global__ functions "
        b"requires separate compilation mode\n"
        b"  __attribute__((global)) void p() { c<<<1, 1>>>(); }\n\n"
    )
    log = readable_log(raw, limit_bytes=1000)
    assert headline(log).startswith("Kernels of a submission cannot launch kernels")
    assert "kernel.cu(2): error:" in log


@pytest.mark.parametrize(
    "said",
    [
        'kernel.cu(6): error: identifier "concept" is undefined\n  template <class F> concept Map = requires { 1; };',
        "kernel.cu(3): error: this declaration has no storage class or type specifier\n  consteval int f();",
        "kernel.cu(2): error: an operator name must be declared as a function\n  auto operator<=>(const A&) const;",
    ],
)
def test_what_is_of_a_later_standard_is_said_to_be(said: str) -> None:
    assert readable_log(said.encode(), limit_bytes=1000).startswith("Concepts, consteval, constinit and <=> are C++20")
    other = said.replace("concept", "conceit").replace("requires", "inquires").replace("consteval", "const_int")
    other = other.replace("<=>", "<")
    assert "C++20" not in readable_log(other.encode(), limit_bytes=1000)


def test_a_cut_is_announced() -> None:
    text = "\n".join(f"line {number}" for number in range(100))
    cut = capped(text, 120)
    assert len(cut.encode()) <= 120
    assert cut.startswith("line 0\n")
    assert cut.endswith("left out]")
    assert capped("short", 120) == "short"
    assert capped("short", 120, truncated=True).endswith("left out]")


@given(st.binary(max_size=3000), st.integers(80, 500))
def test_any_output_makes_a_bounded_clean_log(raw: bytes, limit_bytes: int) -> None:
    log = readable_log(raw, limit_bytes=limit_bytes)
    assert len(log.encode()) <= limit_bytes
    assert all(character >= " " or character in "\n\t" for character in log)


def test_resources_of_each_kernel() -> None:
    text = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z1kPf' for 'sm_80'
ptxas info    : Function properties for _Z1kPf
    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 16 bytes cumulative stack size, 1024 bytes smem, 372 bytes cmem[0]
ptxas info    : Compile time = 5.2 ms
ptxas info    : Compiling entry function 'other' for 'sm_80'
ptxas info    : Function properties for other
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 0 barriers, 372 bytes cmem[0]
"""
    first, second = parse_resources(text)
    assert first == KernelResources(
        kernel="_Z1kPf",
        registers=32,
        spill_stores_bytes=8,
        spill_loads_bytes=12,
        shared_bytes=1024,
        stack_bytes=16,
    )
    assert (second.kernel, second.registers, second.shared_bytes) == ("other", 10, 0)


@pytest.mark.parametrize(
    ("log", "told"),
    [
        ("", ""),
        ("The source is empty.", "The source is empty."),
        (
            "There is no function `solve` in the source. It must define:\n  void solve(int N)",
            "There is no function `solve` in the source.",
        ),
        (
            'kernel.cu(14): warning #174-D: no effect\n  a\n  ^\n\nkernel.cu(15): error: expected a ";"\n  b\n',
            'kernel.cu(15): error: expected a ";"',
        ),
        (
            "kernel.cu: In function 'void f()':\nkernel.cu:3:5: error: 'x' was not declared",
            "kernel.cu:3:5: error: 'x' was not declared",
        ),
        (
            "The compiler needed more than 4096 MiB of memory.\n\ngcc: fatal error: Killed signal terminated program",
            "The compiler needed more than 4096 MiB of memory.",
        ),
    ],
)
def test_the_line_that_says_what_is_wrong(log: str, told: str) -> None:
    assert headline(log) == told


def test_a_kernel_behind_megabytes_of_others_is_in_the_report() -> None:
    def entry(name: str, registers: int) -> str:
        head = "ptxas info    : "
        return f"{head}Compiling entry function '{name}' for 'sm_80'\n{head}Used {registers} registers\n"

    padding = "".join(entry(f"k{number}{'x' * 900}", 8) for number in range(2500))
    report = padding + entry("last", 255)
    assert 2 << 20 < len(report) < MAX_RESOURCES_BYTES
    assert parse_resources(report)[-1] == KernelResources("last", registers=255, shared_bytes=0)


def test_a_texture_reference_is_refused_with_what_to_use_instead() -> None:
    raw = b"kernel.cu(2): error: texture is not a template\n  texture<float, 0x01> source;\n  ^\n"
    log = readable_log(raw, limit_bytes=1000)
    assert headline(log).startswith("CUDA 12 has removed texture and surface references")
    assert "cudaCreateTextureObject" in log
    assert "kernel.cu(2): error:" in log
