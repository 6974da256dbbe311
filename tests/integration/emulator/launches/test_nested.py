"""Kernels that launch kernels: what is computed, in which order, and what is refused."""

from __future__ import annotations

import pytest

from tests.emulated_programs import emulate
from tests.integration.emulator.launches.conftest import PROGRAMS, Examine, build, place

pytestmark = pytest.mark.nvcc

ANSWERS = {
    "descend": "generation 25: cudaErrorLaunchMaxDepthExceeded\n24\n",
    "many": "2000\n",
    "too_many": "1002048\n",  # a thread asks for 2,500, and learns that there is no room
    "more": "5000\n",
    "quicksort": "sorted\n",
    "mergesort": "sorted\n",
    "search": "found\n",
    "orders": "1 2 3 4 7 8 \n",
    "steps": "5000\n",
    "asks": "7 0 1 5 1 1 1 0 0 0 \n",
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_program(examine: Examine, name: str) -> None:
    run = examine(build("nested"), name)
    assert (run.exit_code, run.stdout, run.problems) == (0, ANSWERS[name], {})


@pytest.mark.exhaustive(share=4)
@pytest.mark.parametrize("name", ["quicksort", "mergesort", "search", "orders"])
@pytest.mark.parametrize("options", [("--check=full",), ("--check=full", "--schedule=5"), ("--schedule=7",)])
def test_a_program_under_checks_and_in_other_orders(examine: Examine, name: str, options: tuple[str, ...]) -> None:
    run = examine(*options, build("nested"), name)
    assert (run.exit_code, run.stdout, run.problems) == (0, ANSWERS[name], {})


def test_functions_variables_and_kernels_of_another_file(examine: Examine) -> None:
    run = examine("--check=full", build("parts", str(PROGRAMS / "parts_other.cu")))
    expected = "".join(f"{(3 * i + 1) * 3 + 100} " for i in range(8))
    assert (run.exit_code, run.stdout, run.problems) == (0, f"{expected}cudaSuccess\n", {})


def test_what_there_is_no_room_for_fails_by_name(examine: Examine) -> None:
    run = examine(build("wrong"), "bad_shape")
    problem = run.problems["failed call in a kernel"]
    assert f"{place('wrong', '// bad launch')} in bad_shape" in problem["message"]
    assert "a block of (2048,1,1)" in problem["message"]
    assert "cudaErrorInvalidConfiguration" in problem["message"]


def test_a_loop_of_launches_without_an_end_is_stopped(examine: Examine) -> None:
    run = examine("--time-limit=1", build("wrong"), "endless")
    assert run.stdout == "cudaErrorLaunchTimeout\n"
    assert (
        "the kernels that it has launched took longer than one launch may" in run.problems["stopped launch"]["message"]
    )


def test_a_profile_has_every_launch() -> None:
    run = emulate("--gpu=h200", "--profile", build("nested"), "many")
    assert run.exit_code == 0
    assert "2,000" in run.stderr, "the launches of count"
    assert "launch_many" in run.stderr
