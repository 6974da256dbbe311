"""Sources that attack the compiler, the machine it runs on, or whoever reads its output.

Each says the idea; the verdict required is a compile error or, where the attempt comes to nothing, a build like any
other, within the limits. None may read what is not its own, outlast the clock, or break the build that comes after it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from judge.compile.nvcc import build_submission
from judge.compile.target import Target
from judge.judgement import BuildReport
from judge.settings import BuildLimits, JudgeSettings
from tests.unit.judge.compile.challenge import PLAIN, FakeChallenge

pytestmark = [pytest.mark.nvcc, pytest.mark.jail, pytest.mark.recorded("tests/unit/judge/compile")]

LIMITS = BuildLimits(wall_s=12, memory_bytes=1 << 30, log_bytes=4096, artifact_bytes=4 << 20)


@dataclass(frozen=True, slots=True)
class Attack:
    """``says`` is in the log of the compile error; None where the build must succeed with nothing gained."""

    name: str
    idea: str
    source: str
    says: str | None


_PROBED = ("/etc/passwd", "/work", "/root/.bashrc", "/proc/1/root/etc/passwd", "/var/lib/dpkg/status")

ATTACKS = [
    Attack("include-passwd", "embed a file of the host", '#include "/etc/passwd"\n' + PLAIN, "No such file"),
    Attack("include-home", "climb out", '#include "../../../../root/.bashrc"\n' + PLAIN, "No such file"),
    Attack("incbin", "let the assembler embed it", 'asm(".incbin \\"/etc/passwd\\"");\n' + PLAIN, "file not found"),
    Attack("asm-include", "let it print it", 'asm(".include \\"/etc/shadow\\"");\n' + PLAIN, "No such file"),
    Attack(
        "has-include",
        "probe for files, one bit at a time",
        "\n".join(f'#if __has_include("{path}")\n#error found {path}\n#endif' for path in _PROBED) + PLAIN,
        None,
    ),
    Attack("device-zero", "a file without an end", '#include "/dev/zero"\n' + PLAIN, "The compiler"),
    Attack("include-itself", "preprocess for ever", '#include "kernel.cu"\n' + PLAIN, "nested depth"),
    Attack("huge-data", "fill the disk by a line", "char big[3000000000ull] = {1};\n" + PLAIN, "wrote more than"),
    Attack("huge-library", "one that no store should keep", "char big[8000000] = {1};\n" + PLAIN, "at most 4,194,304"),
    Attack(
        "template-memory",
        "instantiate until memory is gone",
        "template <int N, int M> struct A { static constexpr int v = A<N-1, 2*M>::v + A<N-1, 2*M+1>::v; };\n"
        "template <int M> struct A<0, M> { static constexpr int v = 1; };\nint x = A<30, 1>::v;\n" + PLAIN,
        "more than 1024 MiB of memory",
    ),
    Attack(
        "preprocessor-time",
        "expand macros for a day",
        "#define A(x) x x x x x x x x x x\n#define B(x) A(A(A(x)))\n#define C(x) B(B(B(x)))\n#define D(x) C(C(x))\n"
        "D(;)\n" + PLAIN,
        "The compiler",  # took longer, or needed more memory: whichever comes first
    ),
    Attack(
        "log-flood",
        "warnings without number, with escape codes",
        "".join(f"#warning \x1b[31mred\x1b[0m\x07 {number}\n" for number in range(300)) + "int x = missing;\n" + PLAIN,
        "left out",
    ),
    Attack(
        "export-more",
        "export what the runner's libraries call",
        'extern "C" cudaError_t cudaEventElapsedTime(float* t, cudaEvent_t, cudaEvent_t) '
        "{ *t = 0; return cudaSuccess; }\n" + PLAIN,
        None,
    ),
    Attack("linker-option", "pass one through a directive", '#pragma comment(linker, "-rpath=/tmp")\n' + PLAIN, None),
    Attack("shell-words", "what a shell would expand", "/* $(touch /tmp/x); `id` */ " + PLAIN, None),
]


def build(source: str, data_dir: Path) -> tuple[BuildReport, bytes]:
    report, artifact = build_submission(
        source.encode(),
        FakeChallenge(),
        Target("emulator", "compute_80"),
        JudgeSettings(data_dir=data_dir, build=LIMITS),
    )
    return report, artifact.library if artifact else b""


@pytest.mark.exhaustive
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_it_comes_to_nothing(attack: Attack, tmp_path: Path) -> None:
    started_s = time.monotonic()
    report, library = build(attack.source, tmp_path)
    assert time.monotonic() - started_s < LIMITS.wall_s + 15
    if attack.says is None:
        assert report.ok, report.log
        assert b"root:x:0:0" not in library
    else:
        assert not report.ok, attack.idea
        assert attack.says in report.log
        assert library == b""
    assert len(report.log.encode()) <= LIMITS.log_bytes
    assert "root:x:0:0" not in report.log
    assert "\x1b" not in report.log


def test_the_next_build_is_as_if_nothing_had_been(tmp_path: Path) -> None:
    failed, _ = build('asm(".incbin \\"/dev/zero\\"");\n' + PLAIN, tmp_path)
    assert not failed.ok
    report, library = build(PLAIN, tmp_path)
    assert report.ok, report.log
    assert library
