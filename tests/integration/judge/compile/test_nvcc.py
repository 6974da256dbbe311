from __future__ import annotations

import ctypes
import dataclasses
import struct
from pathlib import Path

import pytest

from judge.compile import jailed_compiler, known_good
from judge.compile.artifact import Artifact
from judge.compile.nvcc import build_submission
from judge.compile.source_files import join_files, own_lines
from judge.compile.target import Target
from judge.errors import InternalError, ToolchainMissing
from judge.judgement import BuildReport
from judge.settings import JudgeSettings
from tests.unit.judge.compile.challenge import KERNEL, LAUNCH, PLAIN, FakeChallenge, Options

pytestmark = [pytest.mark.nvcc, pytest.mark.jail, pytest.mark.exhaustive(by_file=True), pytest.mark.recorded()]

CHALLENGE = FakeChallenge()


@pytest.fixture
def settings(tmp_path: Path) -> JudgeSettings:
    return JudgeSettings(data_dir=tmp_path)


def build(source: str, settings: JudgeSettings, target: Target | None = None) -> tuple[BuildReport, Artifact | None]:
    return build_submission(source.encode(), CHALLENGE, target or Target("emulator", "compute_80"), settings)


def exported(library: bytes) -> set[str]:
    """The names that an ELF library defines for others, read from its dynamic symbol table."""
    (start,) = struct.unpack_from("<Q", library, 0x28)
    size, count = struct.unpack_from("<HH", library, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", library, start + index * size) for index in range(count)]
    symbols = next(section for section in sections if section[1] == 11)
    strings = sections[symbols[6]]
    names = set()
    for offset in range(symbols[4], symbols[4] + symbols[5], 24):
        name, info, _, section, _, _ = struct.unpack_from("<IBBHQQ", library, offset)
        if section != 0 and info >> 4 in (1, 2):
            start = strings[4] + name
            names.add(library[start : library.index(b"\0", start)].decode())
    return names


def test_a_plain_kernel_exports_only_solve(settings: JudgeSettings) -> None:
    report, artifact = build(PLAIN + "int main() { return 0; }\nvoid other() {}\nint table[4] = {1};", settings)
    assert report.ok, report.log
    assert artifact is not None
    assert exported(artifact.library) == {"solve"}
    assert artifact.extern_c
    assert report.log == ""
    assert report.registers is not None
    assert 2 <= report.registers <= 64
    assert report.spills == 0
    assert [kernel.kernel for kernel in report.kernels] == ["_Z5twicePKfPfi"]
    assert b".target sm_80" in artifact.library  # PTX, readable for the emulator
    again, same = build(PLAIN + "int main() { return 0; }\nvoid other() {}\nint table[4] = {1};", settings)
    assert again.cached
    assert same == artifact
    assert dataclasses.replace(again, cached=False, wall_s=0) == dataclasses.replace(report, wall_s=0)


@pytest.mark.parametrize(
    "statement",
    [
        'asm("red.global.add.v2.f32 [%0], {%1, %1};" ::"l"(p), "f"(1.0f));',
        "atomicAdd(reinterpret_cast<float2*>(p), make_float2(1.0f, 2.0f));",
        "cooperative_groups::cluster_group::sync();",
    ],
)
def test_what_only_a_later_architecture_has_is_compiled_for_it(statement: str, settings: JudgeSettings) -> None:
    later = f"#include <cooperative_groups.h>\n__global__ void later(float* p) {{ {statement} }}\n" + PLAIN
    report, artifact = build(later, settings, Target("emulator", "compute_80", "compute_90a"))
    assert report.ok, report.log
    assert artifact is not None
    assert artifact.target == Target("emulator", "compute_90a")
    report, _ = build(later, settings)
    assert not report.ok


@pytest.mark.parametrize(
    ("definition", "extern_c"),
    [
        ("void solve(const float* input, float* output, int N) ", False),
        ("void solve(float* input, float* output, const int N) ", False),
        ("void solve(int* other) {}\nvoid solve(const float* input, float* output, int N) ", False),
        ('#include "solve.h"\nvoid solve(const float* input, float* output, int N) ', True),
        ('#define EXPORT extern "C" void\nEXPORT solve(float* input, float* output, int N) ', True),
    ],
)
def test_solve_in_its_other_forms(definition: str, extern_c: bool, settings: JudgeSettings) -> None:
    report, artifact = build(KERNEL + definition + LAUNCH, settings)
    assert report.ok, report.log
    assert artifact is not None
    assert exported(artifact.library) == {"solve"}
    assert artifact.extern_c is extern_c


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("void solve(double* x, int N) {}", "it takes 2 parameters instead of 3"),
        ("void solve(float* input, float* output, short N) {}", "parameter 3 is `short` instead of `int N`"),
        ('extern "C" void solve(const int* input, float* output, int N) {}', "parameter 1 is `const int *input`"),
        ("static void solve(const float* input, float* output, int N) {}", "No function `solve` was compiled"),
        ("namespace n { void solve(const float*, float*, int) {} }", "in a namespace or class"),
        (PLAIN.replace("2 *", "two *"), 'kernel.cu(4): error: identifier "two" is undefined'),
        (PLAIN + "void missing(); void use() { missing(); }", "undefined reference to `missing()'"),
        (PLAIN + '__global__ void k() { asm volatile("bad.instr;"); }', "Not a name of any known instruction"),
    ],
)
def test_compile_errors_say_what_is_wrong(source: str, says: str, settings: JudgeSettings) -> None:
    report, artifact = build(source, settings)
    assert not report.ok
    assert artifact is None
    assert says in report.log
    for path in ("/tmp", "/cuda", "/usr", str(settings.data_dir)):
        assert path not in report.log


@pytest.mark.parametrize(
    "definition",
    [
        'extern "C" void solve(const float* input, float* output, size_t N)',
        "void solve(float* input, float* output, long N)",
        "void solve(int* other) {}\nvoid solve(const float* input, float* output, unsigned N)",
    ],
)
def test_an_integer_of_another_type_is_converted(definition: str, settings: JudgeSettings) -> None:
    report, artifact = build(KERNEL + definition + LAUNCH, settings)
    assert report.ok, report.log
    assert artifact is not None
    assert exported(artifact.library) == {"solve"}
    (note,) = report.notes
    assert "and the challenge passes `int N`: the value is converted" in note
    assert artifact.call_lines


HEADERS = {
    "inc/scale.cuh": b"""#pragma once
#include "../factor.h"
__global__ void scale(const float* in, float* out, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) out[i] = FACTOR * in[i];
}
""",
    "factor.h": b"#ifndef FACTOR\n#define FACTOR 2\n#else\n#undef FACTOR\n#define FACTOR 3\n#endif\n",
    "launch.cuh": b"""inline void launch(const float* in, float* out, int n) {
  scale<<<(n + 255) / 256, 256>>>(in, out, n);
}
""",
}
WITH_HEADERS = b"""#include "inc/scale.cuh"
#include "inc/scale.cuh"
#if FACTOR == 2
#include "factor.h"
#include "launch.cuh"
#else
#include "is-not-there.h"
#endif
static_assert(FACTOR == 3 && __LINE__ == 9);
extern "C" void solve(const float* input, float* output, long N) { launch(input, output, N); }
"""


def test_headers_of_ones_own_are_included_as_ever(settings: JudgeSettings) -> None:
    source = join_files(WITH_HEADERS, HEADERS)
    report, artifact = build(source.decode(), settings)
    assert report.ok, report.log
    assert artifact is not None
    assert report.notes, "the signature was not read"
    lines = own_lines(source)
    assert "launch.cuh:2" in [lines.name(line) for _, line in artifact.call_lines]


@pytest.mark.parametrize(
    ("name", "from_", "to", "says"),
    [
        ("inc/scale.cuh", b"in[i]", b"int[i]", "inc/scale.cuh(5): error"),
        ("factor.h", b"#ifndef", b"#error no\n#ifndef", "factor.h:1:2: error: #error no"),
        ("launch.cuh", b"inline", b"void missing();\ninline", "launch.cuh:3: undefined reference to `missing()'"),
    ],
)
def test_errors_name_the_line_of_the_header(
    name: str, from_: bytes, to: bytes, says: str, settings: JudgeSettings
) -> None:
    headers = {**HEADERS, name: HEADERS[name].replace(from_, to)}
    if name == "launch.cuh":
        headers[name] = headers[name].replace(b"scale<<<", b"missing(); scale<<<")
    report, artifact = build(join_files(WITH_HEADERS, headers).decode(), settings)
    assert artifact is None
    assert says in report.log
    assert "/tmp" not in report.log


def test_a_header_that_was_not_sent_is_told(settings: JudgeSettings) -> None:
    report, artifact = build(WITH_HEADERS.decode(), settings)
    assert artifact is None
    assert report.log.startswith("`inc/scale.cuh` is not there: a submission is one file")


def test_device_lambdas_and_constexpr_functions_need_no_flag(settings: JudgeSettings) -> None:
    source = (
        "constexpr float twice_of(float x) { return 2 * x; }\n"
        "template <class F> __global__ void apply(F f, float* y, int n) {\n"
        "  int i = blockIdx.x * 64 + threadIdx.x;\n  if (i < n) y[i] = f(i);\n}\n"
        'extern "C" void solve(const float* x, float* y, int n) {\n'
        "  apply<<<(n + 63) / 64, 64>>>([x] __device__(int i) { return twice_of(x[i]); }, y, n);\n}\n"
    )
    report, artifact = build(source, settings)
    assert report.ok, report.log
    assert artifact is not None


def test_a_cuda_target_has_the_cubin_and_the_ptx(settings: JudgeSettings) -> None:
    report, artifact = build(PLAIN, settings, Target("cuda", "sm_90"))
    assert report.ok, report.log
    assert artifact is not None
    assert artifact.target == Target("cuda", "sm_90")
    assert exported(artifact.library) == {"solve"}
    assert report.registers is not None
    assert "ptxas info" not in report.log


def test_instructions_of_hopper_are_to_be_had(settings: JudgeSettings) -> None:
    source = PLAIN + '__global__ void fence() { asm volatile("wgmma.fence.sync.aligned;"); }'
    report, _ = build(source, settings, Target("cuda", "sm_90"))
    assert report.ok, report.log


def test_the_driver_api_links_without_a_driver(settings: JudgeSettings) -> None:
    report, artifact = build(
        PLAIN + "#include <cuda.h>\nvoid start() { cuInit(0); }", settings, Target("cuda", "sm_90")
    )
    assert report.ok, report.log
    assert artifact is not None
    assert b"libcuda.so.1\0" in artifact.library


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("cudaStream_t s; cudaStreamCreate(&s);", False),
        ("cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);", True),
        ("cudaStream_t s; cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, 0);", True),
        ("CUstream s; cuStreamCreate(&s, CU_STREAM_NON_BLOCKING);", True),
        ("CUcontext c; cuCtxCreate(&c, nullptr, 0, 0);", True),
        ('void* f; cudaGetDriverEntryPointByVersion("cuStreamCreate", &f, 12000, 0);', True),
        ('dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuStreamCreate");', True),
    ],
)
def test_an_artifact_says_whether_the_program_may_create_streams_of_its_own(
    settings: JudgeSettings, text: str, has: bool
) -> None:
    source = f"#include <cuda.h>\n#include <dlfcn.h>\n{PLAIN}\nvoid other() {{ {text} }}"
    report, artifact = build(source, settings, Target("cuda", "sm_90"))
    assert artifact is not None, report.log
    assert artifact.own_streams == has


def test_nvcc_as_a_whole_makes_the_same(settings: JudgeSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    """The way for a release whose steps are not known."""
    monkeypatch.setattr(jailed_compiler, "parse_dryrun", lambda _: None)
    report, artifact = build("using T = float;" + PLAIN.replace("float* output", "T* output"), settings)
    assert report.ok, report.log
    assert artifact is not None
    assert exported(artifact.library) == {"solve"}
    assert report.registers is None  # nobody asked ptxas


def test_without_walls_it_builds_too(settings: JudgeSettings) -> None:
    report, artifact = build(PLAIN, dataclasses.replace(settings, jail="off"))
    assert report.ok, report.log
    assert artifact is not None


def test_the_library_can_be_loaded(settings: JudgeSettings, tmp_path: Path) -> None:
    _, artifact = build(PLAIN, settings, Target("cuda", "sm_90"))
    assert artifact is not None
    path = tmp_path / "kernel.so"
    path.write_bytes(artifact.library)
    assert ctypes.CDLL(str(path)).solve


HOSTILE_NAMES = [
    "_Z5solve';touch${IFS}here;'",
    "_Z5solve,-rpath=here",
    "_Z5solve here",
    "_Z5solve$here",
    "_Z5solve.here",
]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_symbols_with_other_characters_get_into_no_command(name: str, settings: JudgeSettings) -> None:
    """The assembler takes them between quotes."""
    symbol = f'\\"{name}\\"'
    source = f'static void solve() {{}}\nasm(".globl {symbol}\\n.type {symbol},@function\\n{symbol}: ret\\n");\n'
    report, artifact = build(source, settings)
    assert artifact is None
    assert report.log.startswith("No function `solve` was compiled")
    report, artifact = build(source.partition("\n")[2] + PLAIN, settings)
    assert artifact is not None, report.log
    assert exported(artifact.library) == {"solve"}


@pytest.mark.parametrize(
    "target", [Target("emulator", "compute_80"), Target("cuda", "sm_90")], ids=lambda target: target.kind
)
def test_only_ptxas_says_what_ptxas_says(target: Target, settings: JudgeSettings) -> None:
    words = "\\nptxas info    : Compiling entry function 'forged' for 'sm_80'\\nptxas info    : Used 1 registers\\n"
    report, _ = build(f'#pragma message("{words}")\n#line 7 "{words}"\nstatic int unused;\n{PLAIN}', settings, target)
    assert report.ok, report.log
    assert [kernel.kernel for kernel in report.kernels] == ["_Z5twicePKfPfi"]


def test_what_ptxas_cites_of_the_source_is_not_its_own(settings: JudgeSettings) -> None:
    words = "\\nptxas info    : Compiling entry function 'forged' for 'sm_80'\\nptxas info    : Used 1 registers\\n"
    cited = PLAIN.replace("int i =", f'asm volatile(".pragma \\"x{words}\\";"); int i =')
    report, _ = build(cited, settings)
    assert report.ok, report.log
    assert [kernel.kernel for kernel in report.kernels] == ["_Z5twicePKfPfi"]


def test_words_about_a_missing_library_are_no_fault_of_the_machine(settings: JudgeSettings) -> None:
    challenge = FakeChallenge(build=Options(libraries=("m",)))
    source = '#warning cannot find -lcublas\nextern "C" void nowhere();\n' + PLAIN.replace(
        "{ twice", "{ nowhere(); twice"
    )
    report, artifact = build_submission(source.encode(), challenge, Target("emulator", "compute_80"), settings)
    assert artifact is None
    assert report.log.startswith("The program could not be linked.")


def test_a_library_that_the_toolkit_lacks_is_the_operators_business(settings: JudgeSettings) -> None:
    challenge = FakeChallenge(build=Options(libraries=("no-such-library",)))
    with pytest.raises(InternalError, match="no-such-library"):
        build_submission(PLAIN.encode(), challenge, Target("emulator", "compute_80"), settings)


def test_a_compiler_that_fails_whatever_it_is_given(settings: JudgeSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    """No compile error for the user where not even a plain kernel compiles: an unsupported host compiler, say."""
    script = jailed_compiler.build_script
    monkeypatch.setattr(
        jailed_compiler,
        "build_script",
        lambda *given, **named: "echo unsupported GNU version; exit 11\n" + script(*given, **named),
    )
    known_good.require_working.cache_clear()
    with pytest.raises(InternalError, match="unsupported GNU version"):
        build(PLAIN, settings)
    known_good.require_working.cache_clear()


def test_an_architecture_that_nvcc_does_not_know(settings: JudgeSettings) -> None:
    with pytest.raises(InternalError, match="compute_20"):
        build(PLAIN, settings, Target("cuda", "sm_20"))


def test_a_missing_nvcc_is_an_internal_error(settings: JudgeSettings) -> None:
    with pytest.raises(ToolchainMissing):
        build(PLAIN, dataclasses.replace(settings, nvcc=Path("/nowhere/nvcc")))


_REDUCTION = """#include <cub/cub.cuh>
{}
extern "C" void solve(const float* input, float* output, int N) {{
    size_t bytes = 0;
    cub::DeviceReduce::Sum(nullptr, bytes, input, output, N);
}}
"""


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("", [("cub/device/device_reduce.cuh",)]),
        # Of the two only the wide header happens to bring <set>.
        ("static std::set<int> seen;", [("cub/device/device_reduce.cuh",), ()]),
    ],
)
def test_a_source_gets_the_headers_of_cub_that_it_needs(
    settings: JudgeSettings, monkeypatch: pytest.MonkeyPatch, before: str, expected: list[object]
) -> None:
    tried: list[object] = []
    run = jailed_compiler.run_compiler

    def spied(job: jailed_compiler.CompilerJob) -> jailed_compiler.CompilerResult:
        tried.append(job.narrowed)
        return run(job)

    monkeypatch.setattr("judge.compile.nvcc.run_compiler", spied)
    report, _ = build(_REDUCTION.format(before), settings)
    assert report.ok, report.log
    assert tried == expected
