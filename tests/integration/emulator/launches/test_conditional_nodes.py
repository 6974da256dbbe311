"""Graphs with conditional nodes, and graphs that kernels launch."""

from __future__ import annotations

import pytest

from tests.integration.emulator.launches.conftest import Examine, build, place

pytestmark = pytest.mark.nvcc


def _collatz(number: int) -> tuple[int, int]:
    """(steps, halvings) until 1."""
    steps = halvings = 0
    while number != 1:
        steps += 1
        halvings += number % 2 == 0
        number = number // 2 if number % 2 == 0 else 3 * number + 1
    return steps, halvings


@pytest.mark.parametrize("options", [(), ("--check=full",), ("--check=full", "--schedule=3")])
def test_a_branch_in_a_loop(examine: Examine, options: tuple[str, ...]) -> None:
    run = examine(*options, build("graphs", linked=False), "collatz")
    steps, halvings = _collatz(27)
    assert (run.exit_code, run.stdout, run.problems) == (0, f"1 {2 * steps} {2 * halvings}\n", {})


def test_a_switch_runs_one_body_or_none(examine: Examine) -> None:
    run = examine("--check=full", build("graphs", linked=False), "switch")
    assert (run.exit_code, run.stdout, run.problems) == (0, "0 10 20 -1 \n", {})


def test_a_loop_and_its_body_are_captured(examine: Examine) -> None:
    run = examine("--check=full", build("graphs", linked=False), "captured")
    # Six times to get from 64 to 1, and once more behind the loop.
    assert (run.exit_code, run.stdout, run.problems) == (0, "1 1 0 6 7\n", {})


def test_a_loop_without_an_end_is_stopped(examine: Examine) -> None:
    run = examine("--time-limit=1", build("graphs", linked=False), "endless")
    assert "cudaErrorLaunchTimeout" in run.stdout
    assert "a WHILE node of a graph took longer" in run.problems["stopped launch"]["message"]


def test_a_body_has_no_host_functions(examine: Examine) -> None:
    run = examine(build("graphs", linked=False), "host_in_body")
    assert "cudaErrorNotSupported" in run.stdout
    assert "the body of a conditional node" in run.problems["bad graph"]["message"]


def test_a_handle_that_is_none(examine: Examine) -> None:
    run = examine(build("graphs", linked=False), "bogus")
    assert run.stdout == "cudaErrorInvalidValue\n"
    assert f"{place('graphs', 'cudaGraphSetConditional(12345678')} in bogus" in run.problems["failed launch"]["message"]


@pytest.mark.parametrize("options", [(), ("--check=full",)])
def test_kernels_launch_graphs(examine: Examine, options: tuple[str, ...]) -> None:
    run = examine(*options, build("graphs", "-DDEVICE_LAUNCHES"), "device_graphs")
    # Each round: what the first node launches, when its grid has ended; then the second node. The next comes behind.
    assert run.stdout == "3 100 200 2 100 200 1 100 200 \n"
    assert run.exit_code == 0
    assert not {kind for kind in run.kinds if kind.startswith("race")}


def test_a_graph_that_is_not_for_devices(examine: Examine) -> None:
    run = examine(build("graphs", "-DDEVICE_LAUNCHES"), "plain_graph")
    assert run.stdout == "0\n"
    assert "cudaGraphInstantiateFlagDeviceLaunch" in run.problems["failed call in a kernel"]["message"]
