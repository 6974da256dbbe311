"""Mistakes about kernels that launch kernels, named with both lines; nothing is said of right programs."""

from __future__ import annotations

import pytest

from tests.integration.emulator.launches.conftest import Examine, build, place

pytestmark = [pytest.mark.nvcc, pytest.mark.exhaustive(by_file=True)]

ADD, SUM = "{ values[threadIdx.x] += by; }", "{ *out = values[0] + values[1]; }"


@pytest.mark.parametrize(
    ("name", "there"), [("no_barrier", "// unordered write"), ("reads_result", "// read of what a child writes")]
)
def test_a_race_between_parent_and_child(examine: Examine, name: str, there: str) -> None:
    run = examine("--check=full", build("wrong"), name)
    race = run.problems["race on global memory"]
    said = race["message"]
    assert f"{place('wrong', ADD)} in add" in said
    assert f"of the kernel {name}, which launched it" in said
    assert f"{place('wrong', there)}, and nothing orders the two" in said
    assert run.kinds == ["race on global memory"]


def test_a_race_between_two_children(examine: Examine) -> None:
    run = examine("--check=full", build("wrong"), "siblings")
    assert run.kinds == ["race between streams"]
    assert run.problems["race between streams"]["message"].count(place("wrong", ADD)) == 2


@pytest.mark.parametrize("name", ["barrier", "tail", "one_stream"])
@pytest.mark.parametrize("options", [(), ("--schedule=3",)])
def test_what_barriers_streams_and_tail_launches_order_is_no_race(
    examine: Examine, name: str, options: tuple[str, ...]
) -> None:
    run = examine("--check=full", *options, build("wrong"), name)
    assert (run.stdout, run.problems) == ("cudaSuccess\n", {})


@pytest.mark.parametrize("name", ["local", "shared"])
def test_a_child_cannot_reach_its_parents_own_memory(examine: Examine, name: str) -> None:
    run = examine(build("wrong"), name)
    assert run.stdout == "cudaErrorIllegalAddress\n"
    problem = run.problems["illegal write"]
    assert f"{place('wrong', ADD)} in add" in problem["message"]
    assert "the block that launched this kernel" in problem["message"]


def test_a_child_that_uses_freed_memory(examine: Examine) -> None:
    run = examine(build("wrong"), "freed")
    assert run.stdout == "cudaErrorIllegalAddress\n"
    assert f"{place('wrong', ADD)} in add" in run.problems["write after free"]["message"]


def test_a_child_that_reads_what_nobody_wrote(examine: Examine) -> None:
    run = examine("--check=full", build("wrong"), "unwritten")
    assert run.kinds == ["uninitialized read"]
    assert f"{place('wrong', SUM)} in sum" in run.problems["uninitialized read"]["message"]


def test_an_error_of_a_child_is_the_programs(examine: Examine) -> None:
    run = examine(build("wrong"), "child_fails")
    assert run.stdout == "cudaErrorIllegalAddress\n"
    (problem,) = (it for it in run.problems.values() if it["kind"].endswith("write"))
    assert f"{place('wrong', '// past the end')} in fail" in problem["message"]
