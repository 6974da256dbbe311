"""All that reads a source or a compiler's log takes time in proportion to its length, whatever the text."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence

import pytest

from emulator.shared_parts import uses_by_line
from judge.compile import diagnostics
from judge.compile.kernels import kernel_name
from judge.compile.likeness import fingerprints
from judge.compile.listing import read_ptx, read_sass
from judge.compile.signature import find_definitions, parse_parameters
from judge.compile.source import check_source, strip_noise
from judge.compile.source_files import ONE_FILE
from judge.judgement import MemoryFault
from judge.languages.triton.intermediate import read_ir
from judge.sandbox.launch import JailExit
from judge.supervisor.process import Ending
from judge.supervisor.verdict_rules import outcome_of_ending
from judge.wire.frames import Op
from web.source import highlight_lines
from web.submissions.diagnostics import fault_detail, source_notes

#: The largest source, and the shorter one that every run tries: quadratic time shows in either.
SIZE, SMALL = 256 << 10, 16 << 10
#: A text of four times the length may take this many times as long. Linear time gives 4 (more where a longer text no
#: longer fits a cache that other processes use too), quadratic time 16.
MOST_GROWTH = 11.0
#: What grows faster than its length does so every time.
ATTEMPTS = 8
#: What takes less is not compared: the clock's own error would decide.
LEAST_S = 2e-3

#: All files outside the engine that read texts here; they import nothing else of the website.
READERS = ("web/source.py", "web/submissions/diagnostics.py")

#: What is repeated, after a beginning and before an end: each was slow, or looks as if it could be.
_UNITS = (
    "/*", "*/", "/", '"', "'", '\\"', "\\'", '"\\', '""', "''", 'R"(', 'R"a(', ")", '")', ')a"', 'u8R"x(', "//\\\n",
    "\\\n", "__global__ ", "__global__ solve ", "__global__ __launch_bounds__(", "__launch_bounds__(", "solve ",
    "solve(", "solve()", "solve( ", "solve()noexcept ", "solve()__attribute__((", "solve(){", "solve(a){}",
    "solve(a,b,c){}\n", "){", "){}", "using a=", "using a = b;", "using  ", "typedef ", "typedef a ", "typedef a b;",
    "typedef a* b[", "#", "# \\\n", " #", "a", "a ", "a::", "a,", "(", "[", "{", "<", "[[", "alignas(", "int ",
    "const ", "*", "=", "1", ".", "a=b,", "\n", "\r", "\r\n", "\n ", " \n", " ", "\t", "\x1b", "\x1b[", "\x1b[1",
    "\x1b[1 ", "\x1b]", "\x1b]a", "\x07", "\x00", "\u00e9", "/cuda/", "/cuda/targets/", ",/usr/lib/gcc/",
    ",/usr/lib/gcc/a/b/", "/usr/lib/", "/usr/lib/a/ld", "/usr/bin/ld.", "/usr/bin/ld:", "kernel.", "kernel.cu",
    "kernel.cudafe1.cpp:", "tmpxft_", "-tmpxft_", "tmpxft_a.cudafe1.", "/tmp/cc", "/tmp/ccab.o", "ptxas /tmp/",
    "ptxas /tmp/a.ptx ", "ptxas info ", "\nptxas info : a", "nvcc info :", "nvcc info : incompatible ", "error",
    "error ", "error#", "error #", "error: ", "\nerror: a", "1 errors detected", "See <", "a\n", "a\na\nb\n",
    "\na\n\n", "In file included", "\nkernel.cu(1): error: a", "kernel.cu(1", "kernel.cu:1:", "warning",
    "\nkernel.cu(1): warning", ": ", "::", "terminate called after throwing an instance of '", "1a", "9", "_ZN",
    "_GLOBAL__N_1", "3abc", "2aa", " bytes smem", "1 bytes smem",
    "\n.visible .entry a(", "\n.visible .func a()\n{\n", "\n.file 1 \"", "\n.loc 1 2 3", "\n.maxntid 1, 1",
    "\n//---- .text.a", "\n//## File \"", "\n/*0000*/ a", "\n.L_x_0:", " of block (", " of block (1, ",
    "__shared__ ", "__shared__ int a[1];", "int* b = a;", "a[", "a[a", "b[1] = a[0];", "auto b = &", "&a[0] ",
    "collect2: fatal error: a", "\nnvcc error : '", "out of memory ", "virtual memory ",
)  # fmt: skip
_BEGINNINGS = (
    "",
    "/*",
    '"',
    "'",
    'R"x(',
    "__global__ ",
    "solve",
    "solve(",
    "using a = ",
    "typedef a ",
    "_ZN",
    "error ",
    "a",
)
_ENDS = ("\n", '"', ";", "{}", ")", "b")
_BARE = [("", "")]
_AROUND = [*((beginning, "") for beginning in _BEGINNINGS), *(("", end) for end in _ENDS)]


def _texts(size: int, *, around: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yields names, and texts of about ``size`` characters: a unit repeated between a beginning and an end."""
    for unit in _UNITS:
        for beginning, end in around:
            yield f"{beginning!r} {unit!r}... {end!r}", beginning + unit * ((size - 32) // len(unit)) + end


def _read_log(text: str) -> None:
    diagnostics.readable_log(text.encode()[:SIZE], limit_bytes=64 << 10)


def _crash(text: str) -> None:
    ended = JailExit(None, 6, 1.0, 1.0, 1, False, False)
    outcome_of_ending(Ending(Op.RUN, "", False, False, ended, text), 1.0)


STAGES: dict[str, Callable[[str], object]] = {
    "strip_noise": strip_noise,
    "check_source": lambda text: check_source(text.encode()[:SIZE], limit_bytes=SIZE, signature="void solve()"),
    "find_definitions": find_definitions,
    "parse_parameters": parse_parameters,
    "fingerprints": fingerprints,
    "readable_log": _read_log,
    "headline": diagnostics.headline,
    "exhausted": lambda text: diagnostics.exhausted(text, memory_bytes=1, file_bytes=1),
    "says_killed": lambda text: diagnostics.says_killed(text.encode()),
    "parse_resources": diagnostics.parse_resources,
    "kernel_name": kernel_name,
    "read_ptx": read_ptx,
    "read_sass": read_sass,
    "read_ir": lambda text: read_ir(text, ONE_FILE),
    "a crash's output": _crash,
    "source_notes": lambda text: source_notes(text, ()),
    "highlight_lines": highlight_lines,
    "uses_by_line": lambda text: uses_by_line(f"void f(){{ __shared__ int a[9]; int* b = a + 4; {text[:-99]}"),
    "fault_detail": lambda text: fault_detail(MemoryFault(text[:10], text)),
}
#: These take as long as all the other stages together.
COSTLY = ("fingerprints", "readable_log", "uses_by_line", "exhausted")
BY_COST = [
    pytest.param(stage, marks=pytest.mark.exhaustive(costly=True)) if stage in COSTLY else stage for stage in STAGES
]


@pytest.mark.parametrize("stage", STAGES)
def test_time_grows_in_proportion_to_the_length(stage: str) -> None:
    assert not _superlinear(stage, SMALL, _BARE)


@pytest.mark.exhaustive
@pytest.mark.recorded(*READERS)
@pytest.mark.timeout(900)
@pytest.mark.parametrize("stage", BY_COST)
def test_time_grows_in_proportion_whatever_stands_around(stage: str) -> None:
    assert not _superlinear(stage, SMALL, _AROUND)


@pytest.mark.exhaustive
@pytest.mark.recorded(*READERS)
@pytest.mark.timeout(900)
@pytest.mark.parametrize("stage", BY_COST)
def test_time_grows_in_proportion_for_longer_texts(stage: str) -> None:
    assert not _superlinear(stage, SIZE, _BARE)


def _superlinear(stage: str, size: int, around: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Returns the texts whose time grows faster than their length, with the growth from a quarter of ``size``."""
    read, growth = STAGES[stage], {}
    for (name, short), (_, text) in zip(_texts(size // 4, around=around), _texts(size, around=around), strict=True):
        first_s = _least_s(read, text, tries=1)
        if first_s < LEAST_S or _growth(first_s, _least_s(read, short, tries=1)) <= MOST_GROWTH:
            continue
        # Other processes slow readings down: the least of several is the code's own.
        for _ in range(ATTEMPTS):
            grown = _growth(_least_s(read, text), _least_s(read, short))
            if grown <= MOST_GROWTH:
                break
        else:
            growth[name] = grown
    return growth


def _growth(long_s: float, short_s: float) -> float:
    return long_s / max(short_s, LEAST_S / 16)


def _least_s(read: Callable[[str], object], text: str, *, tries: int = 3) -> float:
    """Returns the least CPU time of a few readings, in seconds, without what the garbage collector takes.

    A collection goes through all objects of the process, so it would count for long texts and not for short ones.
    """
    least = float("inf")
    gc.disable()
    try:
        for _ in range(tries):
            started_s = time.thread_time()
            read(text)
            least = min(least, time.thread_time() - started_s)
    finally:
        gc.enable()
    return least
