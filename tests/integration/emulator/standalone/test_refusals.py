"""Programs of nvcc's that cannot be run are refused with a reason and an exit code of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from emulator.standalone.program import build_command
from tests.builds import build_with_nvcc
from tests.emulated_programs import Run, emulate
from tests.integration.emulator.standalone.conftest import FLAGS, PROGRAMS, PTX

pytestmark = pytest.mark.nvcc


def test_a_static_runtime(build: Callable[..., Path]) -> None:
    program = build("-cudart", "static")

    run = emulate(program, "add")

    assert run.exit_code == 125
    assert "-cudart shared" in run.stderr
    assert run.stderr.rstrip().endswith(build_command(("main.cu",), str(program)))


def test_a_program_without_ptx(build: Callable[..., Path], examine: Callable[..., Run]) -> None:
    program = build("-cudart", "shared", code="sm_80")

    run = examine(program, "add")

    assert (run.exit_code, run.stdout) == (1, "add: 1000 wrong\n")
    assert "code=compute_80" in run.problems["failed launch"]["message"]


@pytest.fixture(scope="module")
def refused(library: Path) -> Path:
    assert library.exists()
    return build_with_nvcc(PROGRAMS / "refused.cu", *FLAGS, *PTX, "-cudart", "shared", suffix="")


def test_an_instruction_that_does_not_exist(refused: Path, examine: Callable[..., Run]) -> None:
    run = examine("--error-exitcode=9", refused, "strange")

    assert (run.exit_code, run.stdout) == (1, "cudaErrorNotSupported\n")
    line = (PROGRAMS / "refused.cu").read_text().splitlines().index(
        '    asm volatile("frobnicate.b32 %0, %0;" : "+r"(*cell));  // no instruction'
    ) + 1
    message = run.problems["not supported by the emulator"]["message"]
    assert message.startswith("the instruction frobnicate.b32 (")
    assert message.endswith(f"refused.cu:{line})")


@pytest.mark.parametrize(
    ("version", "error", "kind", "message"),
    [
        (
            b"19.0",
            "cudaErrorNotSupported",
            "not supported by the emulator",
            "PTX of version 19.0: build the program with",
        ),
        (b"9.xx", "cudaErrorInvalidPtx", "failed launch", ".version 9.xx: there is no such version of PTX"),
    ],
)
def test_ptx_of_a_version_that_does_not_exist(
    refused: Path, examine: Callable[..., Run], tmp_path: Path, version: bytes, error: str, kind: str, message: str
) -> None:
    program = tmp_path / "program"
    # The text stays as long as it is: the version takes the place of empty lines before it.
    directive = b".version 9.0"
    made = directive.replace(b"9.0", version)
    data = refused.read_bytes()
    old = directive.rjust(len(made), b"\n")
    assert old in data
    program.write_bytes(data.replace(old, made))
    program.chmod(0o755)

    run = examine(program, "store")

    assert run.stdout == f"{error}\n"
    assert message in run.problems[kind]["message"]


def test_more_managed_memory_than_there_is(refused: Path, examine: Callable[..., Run]) -> None:
    run = examine("--memory=4G", refused, "managed")

    assert (run.exit_code, run.stdout) == (1, "cudaErrorMemoryAllocation\n")
    shown = emulate("--memory=4G", "--error-exitcode=9", refused, "managed")
    assert shown.exit_code == 1
    # As much as is asked for is fine where it is not touched.
    assert examine("--memory=128G", refused, "managed").exit_code == 0


def test_an_endless_kernel_that_nobody_waits_for(refused: Path, examine: Callable[..., Run]) -> None:
    run = examine("--time-limit=0.1", "--error-exitcode=9", refused, "endless")

    assert (run.exit_code, run.stdout) == (9, "launched\n")
    message = run.problems["endless loop"]["message"]
    assert "in endless, thread (0,0,0)" in message
    assert message.endswith(
        "; --time-limit SECONDS gives each launch more, --schedule SEED lets host code that it waits for run meanwhile"
    )


def test_work_that_had_not_begun_when_the_program_ended(refused: Path, examine: Callable[..., Run]) -> None:
    run = examine("--schedule=1", "--time-limit=0.1", refused, "endless")

    assert (run.exit_code, run.stdout) == (0, "launched\n")
    [process] = run.report["processes"]
    assert process["unchecked"] == [
        "work of streams that had not begun when the program ended (1): it did not wait for them"
    ]
