"""Programs with a ``main`` of their own: they run as they are, and the report says what was wrong."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from emulator.model import load_gpu
from tests.builds import LIBRARIES, ROOT, build_with_nvcc
from tests.emulated_programs import Run, emulate
from tests.integration.emulator.standalone.conftest import FLAGS, PROGRAMS, PTX

pytestmark = pytest.mark.nvcc

Examine = Callable[..., Run]


def _line_of(text: str) -> int:
    source = (Path(__file__).parent / "programs" / "main.cu").read_text().splitlines()
    (number,) = (number for number, line in enumerate(source, 1) if text in line)
    return number


def test_a_program_without_problems(program: Path) -> None:
    run = emulate(program, "add")

    assert (run.exit_code, run.stdout) == (0, "add: 0 wrong\n")
    assert "no problems found" in run.stderr
    assert "1                704" in run.stderr


def test_an_out_of_bounds_write(program: Path, examine: Examine) -> None:
    run = examine(program, "bounds")

    assert (run.exit_code, run.stdout) == (1, "bounds: 1000 wrong\n")
    assert run.kinds == ["out-of-bounds read", "out-of-bounds write", "unchecked error"]
    line = _line_of("c[i] = a[i] + b[i]")
    assert f"main.cu:{line} in add, thread (232,0,0) of block (3,0,0)" in run.problems["out-of-bounds write"]["message"]
    unchecked = run.problems["unchecked error"]
    assert "cudaErrorIllegalAddress" in unchecked["message"]
    assert (unchecked["function"], unchecked["line"]) == ("add_on_device", _line_of("add<<<blocks, 256>>>"))


@pytest.mark.parametrize("flags", [(), ("--schedule", "3")], ids=["in order", "drawn"])
def test_the_system_may_use_memory_that_host_and_device_share(
    program: Path, examine: Examine, flags: tuple[str, ...]
) -> None:
    run = examine("--check=full", *flags, program, "files")
    assert (run.exit_code, run.problems) == (0, {})
    early = examine("--check=full", *flags, program, "early-files")
    assert early.exit_code == 0
    assert early.stdout == "16384\n", "the system could read it"
    race = early.problems["race with the host"]
    assert (race["function"], race["line"]) == ("run_files", _line_of("// written too early"))


def test_a_read_before_the_device_is_done(program: Path, examine: Examine) -> None:
    run = examine("--check=full", program, "early")

    early = run.problems["race with the host"]
    assert run.exit_code == 0
    assert "which the host reads before it has waited" in early["message"]
    assert (early["function"], early["line"]) == ("run_early", _line_of("// too early"))
    assert "race with the host" not in examine(program, "early").kinds
    shown = emulate("--check=full", program, "early").stderr
    assert f"accessed by the host in run_early ({early['file']}:{early['line']})" in " ".join(shown.split())


def test_a_leak(program: Path, examine: Examine) -> None:
    run = examine(program, "leak")

    assert run.exit_code == 0
    assert run.kinds == ["leaked memory"]
    assert run.problems["leaked memory"]["message"] == "1234 bytes of cudaMalloc #1 were never freed"
    assert run.problems["leaked memory"]["line"] == _line_of("cudaMalloc(&kept, 1234)")


def test_a_leak_without_debug_information(build: Callable[..., Path], examine: Examine) -> None:
    run = examine(build("-cudart", "shared", "-Xlinker", "--strip-debug"), "leak")

    place = run.problems["leaked memory"]
    assert (place["function"], place["line"]) == ("run_leak", None)


def test_memory_that_a_destructor_frees_is_no_leak(program: Path, examine: Examine) -> None:
    assert examine(program, "owner").kinds == []


def test_misuse_of_the_runtime(program: Path, examine: Examine) -> None:
    run = examine(program, "misuse")

    (process,) = run.report["processes"]
    told = [(f["kind"], f["line"]) for f in process["problems"]]
    assert told == [
        ("copy past the end", _line_of("cudaMemcpy(host, pointer, 128")),
        ("wrong copy direction", _line_of("cudaMemcpy(pointer, host, 64, cudaMemcpyDeviceToHost)")),
        ("bad launch configuration", _line_of("add<<<1, 2048>>>")),
        ("bad launch configuration", _line_of("add<<<0, 32>>>")),
        ("bad launch configuration", _line_of("add<<<1, 32, 1 << 20>>>")),
        ("invalid free", _line_of("cudaFree(pointer + 1)")),
        ("invalid free", _line_of("cudaFree(host)") - 1),
        ("invalid free", _line_of("cudaFree(host)")),
        ("use after destruction", _line_of("cudaMemcpyAsync(other")),
        ("use after destruction", _line_of("cudaEventRecord(event)")),
    ]
    messages = " ".join(f["message"] for f in process["problems"])
    for part in (
        *("128 bytes from cudaMalloc #1, which has 64", "memory of the host", "block of (2048,1,1)", "grid of (0,1,1)"),
        *("1048576 bytes of dynamic", "byte 4 of cudaMalloc #1", "cudaMalloc #1, which was freed"),
    ):
        assert part in messages
    assert process["call_error_count"] == 11  # with the allocation that was too large, which the program asked about


def test_what_was_too_much_is_told_with_how_much_there_is(program: Path, examine: Examine) -> None:
    run = examine(program, "greedy")

    (process,) = run.report["processes"]
    memory, shared = process["problems"]
    assert f"failed with cudaErrorMemoryAllocation: it was asked for {1 << 50} bytes, and " in memory["message"]
    assert memory["line"] == _line_of("cudaMalloc(&pointer, 1ull << 50)")
    assert "failed with cudaErrorInvalidValue: add was to be allowed 1048576 bytes" in shared["message"]
    assert shared["line"] == _line_of("cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20")


@pytest.mark.parametrize(("mode", "kinds"), [("unchecked", ["unchecked error"]), ("checked", [])])
def test_an_error_counts_where_nobody_asks(program: Path, examine: Examine, mode: str, kinds: list[str]) -> None:
    assert examine(program, mode).kinds == kinds


@pytest.fixture(scope="session", params=["-O0", "-O2"])
def statuses(library: Path, request: pytest.FixtureRequest) -> Path:
    assert library.exists()
    return build_with_nvcc(
        PROGRAMS / "statuses.cu", *FLAGS, *PTX, "-Xcompiler", request.param, "-cudart", "shared", suffix=""
    )


@pytest.mark.parametrize("mode", ["compared", "returned", "kept", "collected", "chosen"])
def test_a_result_that_the_program_uses_is_no_unchecked_error(statuses: Path, examine: Examine, mode: str) -> None:
    run = examine(statuses, mode)

    assert (run.exit_code, run.kinds) == (0, [])


@pytest.mark.parametrize("mode", ["ignored", "dropped", "void", "launch"])
def test_a_result_that_the_program_drops_is_an_unchecked_error(statuses: Path, examine: Examine, mode: str) -> None:
    (problem,) = examine(statuses, mode).problems.values()

    assert problem["message"].endswith("the program does not look at the result, and asks about no error afterwards")


@pytest.mark.parametrize(("mode", "number"), [("abort", signal.SIGABRT), ("kill", signal.SIGKILL)])
def test_what_is_known_before_a_signal_is_told(program: Path, examine: Examine, mode: str, number: int) -> None:
    run = examine(program, mode)

    assert run.exit_code == 128 + number
    assert run.report["signal"] == signal.Signals(number).name
    (process,) = run.report["processes"]
    assert [launch["kernel"] for launch in process["launches"]] == ["add"]
    assert not process["ended_regularly"]


@pytest.mark.parametrize(
    ("mode", "what", "line"),
    [("touch", "byte 4 of cudaMalloc #1, which is for kernels", "cell[1]"), ("null", "a null pointer", "argc - 2")],
)
def test_a_segmentation_fault(program: Path, examine: Examine, mode: str, what: str, line: str) -> None:
    run = examine(program, mode)

    assert run.exit_code == 128 + signal.SIGSEGV
    assert run.kinds == ["crash"]
    assert what in run.problems["crash"]["message"]
    assert run.problems["crash"]["line"] == _line_of(line)


@pytest.fixture(scope="session")
def endings(library: Path) -> Path:
    assert library.exists()
    return build_with_nvcc(PROGRAMS / "endings.cu", *FLAGS, *PTX, "-cudart", "shared", suffix="")


@pytest.mark.exhaustive(share=4)
@pytest.mark.parametrize(
    ("how", "code"),
    [
        ("return", 7),
        ("exit", 7),
        ("_exit", 7),
        ("quick_exit", 7),
        ("thread", 7),
        ("abort", 128 + signal.SIGABRT),
        ("kill", 128 + signal.SIGTERM),
    ],
)
def test_the_exit_code_is_the_programs_while_code_is_being_made(
    endings: Path, tmp_path: Path, how: str, code: int
) -> None:
    # The kernel is hot and not in this cache; the library is that of all tests.
    assert emulate("--cache", tmp_path / "cache", endings, how).exit_code == code


def test_a_reset_of_the_device_ends_all_that_there_was(endings: Path, examine: Examine) -> None:
    run = examine(endings, "reset")

    assert run.exit_code == 7
    handle = "cudaErrorInvalidResourceHandle\n"
    assert run.stdout == f"0 25\n0 25\ncudaErrorInvalidValue\n{handle}{handle}"
    # Of each round's cell, and of what main() allocated before.
    assert sorted(run.kinds) == ["copy outside of allocations", *["leaked memory"] * 3, *["use after destruction"] * 2]


def test_exit_on_another_thread(program: Path, examine: Examine) -> None:
    run = examine(program, "exit")

    assert run.exit_code == 7
    assert run.kinds == []


def test_threads_that_launch_at_once(program: Path, examine: Examine) -> None:
    run = examine(program, "threads")

    assert run.stdout == "threads: 0 wrong\n"
    assert len(run.report["processes"][0]["launches"]) == 20


def test_fork_before_the_device_is_used(program: Path, examine: Examine) -> None:
    run = examine(program, "fork")

    assert (run.exit_code, run.stdout) == (0, "child: cudaSuccess\nchild: 0 wrong\nparent: 0 wrong\n")
    parent, child = run.report["processes"]
    assert [len(process["launches"]) for process in (parent, child)] == [1, 1]
    assert [f["kind"] for f in child["problems"]] == ["leaked memory"]


def test_fork_after_the_device_was_used(program: Path, examine: Examine) -> None:
    run = examine(program, "fork-after-use")

    assert (run.exit_code, run.stdout) == (5, "child: cudaErrorInitializationError\nparent: 0 wrong\n")
    (process,) = run.report["processes"]
    assert len(process["launches"]) == 2


def test_device_variables_and_pointers_to_them(program: Path) -> None:
    assert emulate(program, "symbols").stdout == "counter 42\n"


def test_device_printf_keeps_its_place(program: Path) -> None:
    assert emulate(program, "greet").stdout == "before\nhello from 0 of 2\nhello from 1 of 2\nafter\n"


def test_an_assertion_goes_to_stderr(program: Path, examine: Examine) -> None:
    run = examine(program, "assert")

    assert run.stdout == "cudaErrorAssert\n"
    assert run.stderr.count("Assertion `n == 0` failed.") == 32
    assert run.kinds == ["failed launch"]


def test_an_endless_loop(program: Path, examine: Examine) -> None:
    run = examine("--instruction-limit", "100000", program, "spin")

    assert run.stdout == "cudaErrorLaunchTimeout\n"
    assert run.kinds == ["endless loop"]
    assert f"main.cu:{_line_of('while (*flag == 0)')}" in run.problems["endless loop"]["message"]
    assert run.report["processes"][0]["limit"] == "instructions"


def test_full_checks(program: Path, examine: Examine) -> None:
    assert examine(program, "race").kinds == []
    found = examine("--check=full", program, "race").kinds
    assert found == ["uninitialized shared read", "race on shared memory"]
    assert examine(program, "race", environment={"EMULATOR_CHECK": "full"}).kinds == found


def test_a_memory_limit(program: Path, examine: Examine) -> None:
    run = examine("--memory", "1K", program, "leak")

    assert run.report["processes"][0]["limit"] == "memory"


def test_a_profile_and_modelled_time(program: Path, examine: Examine) -> None:
    run = examine("--gpu", "h200", program, "add")

    (process,) = run.report["processes"]
    (launch,) = process["launches"]
    assert launch["profile"]["totals"]["global_sectors"] == launch["profile"]["totals"]["global_sectors_ideal"]
    assert process["modelled"]["seconds"] > 0
    text = emulate("--profile", "--gpu", "h200", program, "add").stderr
    assert "global sectors     375, the fewest" in text
    assert "modelled time on NVIDIA H200" in text
    assert f"main.cu:{_line_of('c[i] = a[i] + b[i]')}" in text


def test_events_give_the_modelled_time_of_the_launches_between_them(program: Path, examine: Examine) -> None:
    run = examine("--gpu", "h200", program, "events")
    none, one, three = map(float, run.stdout.split())
    modelled_s, first_s = run.report["processes"][0]["modelled"]["seconds"], load_gpu("h200").launch.first_s
    assert none == pytest.approx(first_s * 1e3)
    assert (one - none) + (three - none) == pytest.approx((modelled_s - first_s) * 1e3, rel=1e-4)


@pytest.mark.parametrize("options", [("--gpu", "h200", "--cpu-time"), ("--profile",)])
def test_events_give_the_cpus_time_where_no_gpu_is_modelled(
    program: Path, examine: Examine, options: tuple[str, ...]
) -> None:
    one_ms = float(examine(*options, program, "events").stdout.split()[1])
    # Another process is asked for the first launch's code; the modelled time would be 4 microseconds.
    assert one_ms > 0.1


def test_the_exit_code_can_say_that_there_were_problems(program: Path) -> None:
    assert emulate("--error-exitcode", "42", program, "leak").exit_code == 42
    assert emulate("--error-exitcode", "42", program, "add").exit_code == 0
    assert emulate("--error-exitcode", "42", program, "bounds").exit_code == 1


def test_several_programs_of_a_script(program: Path, examine: Examine, tmp_path: Path) -> None:
    script = tmp_path / "script.sh"
    script.write_text(f"#!/bin/sh\n{program} add\n{program} leak\nexit 4\n")
    script.chmod(0o755)

    run = examine(script)

    assert (run.exit_code, run.stdout) == (4, "add: 0 wrong\nleak: 0 wrong\n")
    assert run.kinds == ["leaked memory"]
    assert len(run.report["processes"]) == 2


def test_a_python_program_with_a_shared_library(examine: Examine, tmp_path: Path) -> None:
    source = tmp_path / "double.cu"
    source.write_text(
        "__global__ void twice(int *v) { v[threadIdx.x] *= 2; }\n"
        'extern "C" int solve(int *v, int n) { int *d; cudaMalloc(&d, 4 * n);\n'
        "cudaMemcpy(d, v, 4 * n, cudaMemcpyHostToDevice); twice<<<1, n>>>(d);\n"
        "cudaMemcpy(v, d, 4 * n, cudaMemcpyDeviceToHost); return cudaFree(d); }\n"
    )
    library = tmp_path / "double.so"
    subprocess.run(
        ["nvcc", *FLAGS, *PTX, "-cudart", "shared", "-Xcompiler", "-fPIC", "-shared", str(source), "-o", str(library)],
        check=True,
    )
    script = tmp_path / "script.py"
    script.write_text(
        "import ctypes, os\n"
        "values = (ctypes.c_int * 3)(1, 2, 3)\n"
        f"solve = ctypes.CDLL('{library}').solve\n"
        "print(solve(values, 3), list(values))\n"
        "os.closerange(3, 4096)\n"  # as daemons do: the report goes on
        "print(solve(values, 2), list(values))\n"
    )

    run = examine(sys.executable, script)

    assert (run.exit_code, run.stdout) == (0, "0 [2, 4, 6]\n0 [4, 8, 6]\n")
    assert len(run.report["processes"][0]["launches"]) == 2
    assert run.kinds == []


def test_a_program_with_an_old_rpath(build: Callable[..., Path], examine: Examine) -> None:
    cuda = "/usr/local/cuda/lib64"
    flags = ("-Xlinker", f"-rpath={cuda}", "-Xlinker", "--disable-new-dtags")

    assert examine(build("-cudart", "shared", *flags), "add").stdout == "add: 0 wrong\n"


def test_ctrl_c_ends_the_program_and_shows_the_report(program: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.txt"
    process = subprocess.Popen(
        [sys.executable, "-m", "emulator", "--cache", str(LIBRARIES), "-o", str(file), str(program), "spin"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 60
        while not list(Path("/proc").glob(f"{process.pid}/task/*/children")) or not _child_of(process.pid):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(0.5)

        os.killpg(process.pid, signal.SIGINT)

        assert process.wait(timeout=60) == 128 + signal.SIGINT
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert "ended by SIGINT" in file.read_text()


def _child_of(process: int) -> bool:
    return any(path.read_text().strip() for path in Path(f"/proc/{process}/task").glob("*/children"))


def _around(kernel: str) -> Path:
    main = ROOT / "tests" / "shared_parts" / "main.cu"
    return build_with_nvcc(main, *FLAGS, *PTX, "-cudart", "shared", f'-DKERNEL="{kernel}.cu"', suffix="")


def test_a_line_that_leaves_its_part_of_shared_memory_is_a_note(library: Path, examine: Examine) -> None:
    assert library.exists()
    program = _around("wrong/read_past_parameter")

    run = emulate("--check=full", "--error-exitcode", "9", program)

    assert (run.exit_code, run.stdout) == (0, "1000 wrong\n")
    assert "no problems found" in run.stderr
    told = " ".join(run.stderr.replace("[emulator]", "").split())
    assert "note, fine if it is meant: read_past_parameter.cu:9 in add, thread (255,0,0)" in told
    assert "it reads 4 bytes past the end of keys, which are the first of values (read_past_parameter.cu:7)" in told
    (process,) = examine("--check=full", program).report["processes"]
    assert [(note["line"], note["part"], note["into"]) for note in process["notes"]] == [(9, "keys", "values")]


def test_a_program_that_stays_in_its_parts_gets_no_note(library: Path, examine: Examine) -> None:
    assert library.exists()

    run = examine("--check=full", _around("honest/two_parts"))

    assert run.stdout == "0 wrong\n"
    (process,) = run.report["processes"]
    assert (process["notes"], process["problems"]) == ([], [])


@pytest.mark.parametrize(("code", "seen"), [("compute_80", "8.0"), ("compute_90a", "9.0")])
def test_a_program_for_hopper_alone_sees_hopper(code: str, seen: str) -> None:
    target = ("-gencode", f"arch={code},code={code}")
    program = build_with_nvcc(PROGRAMS / "names.cu", *FLAGS, *target, "-cudart", "shared", suffix="")
    run = emulate(program)
    assert (run.exit_code, run.stdout) == (0, f"{seen}\n"), run.stderr


def test_long_names_of_kernels_are_cut() -> None:
    program = build_with_nvcc(PROGRAMS / "names.cu", *FLAGS, *PTX, "-cudart", "shared", suffix="")
    run = emulate(program)
    assert "  scale<Nested<" in run.stderr
    assert "<...>" in run.stderr
    assert max(map(len, run.stderr.splitlines())) < 240
    assert "deep::repeat<Nested<...> >" in run.stderr
