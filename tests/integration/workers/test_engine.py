"""The workers with the engine itself: nvcc, the jail and the emulator; and what a killed worker leaves behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.packs.pack import Pack
from tests.integration.workers.conftest import MakeFleet
from tests.integration.workers.fleet import Fleet
from tests.integration.workers.test_kill9 import check_each_judged_once

pytestmark = [pytest.mark.jail, pytest.mark.nvcc, pytest.mark.exhaustive]

KERNEL = """
#include <cuda_runtime.h>
__global__ void add(const float* a, const float* b, float* c, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    volatile float sum = 0;
    for (int round = 0; round < rounds; ++round) sum = sum + 1.0f;
    if (i < n) c[i] = a[i] + b[i] + 0.0f * sum;
}
extern "C" void solve(const float* A, const float* B, float* C, int N) {
    add<<<(N + 255) / 256, 256>>>(A, B, C, N, ROUNDS);
}
"""


def source(rounds: int) -> str:
    return f"#define ROUNDS {rounds}\n{KERNEL}"


KINDS = ("build", "device", "sweeper")


@pytest.fixture
def engine_fleet(make_fleet: MakeFleet, library: Path) -> Fleet:
    """Leases and a grace long enough for a busy machine. Nothing but the emulator's library was built before."""
    assert library.exists()
    return make_fleet(lease_s=4.0, heartbeat_s=0.5, stop_grace_s=300.0)


def descendants(pid: int) -> set[int]:
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found |= {int(child)} | descendants(int(child))
    return found


@pytest.mark.exhaustive(costly=True)
@pytest.mark.slow(30)
def test_killed_while_nvcc_or_the_runner_works_it_is_judged_once_and_nothing_is_left(
    engine_fleet: Fleet, packs: dict[str, Pack]
) -> None:
    fleet, pack = engine_fleet, packs["vector-add"]
    processes = {kind: fleet.start_engine(kind) for kind in KINDS}
    quick = fleet.submit(source(0), pack=pack)
    fleet.wait_finished(quick, within_s=400)
    assert fleet.verdict(quick) == "AC"

    expected = {quick: "AC"}
    for victim, state in (("build", "building"), ("device", "running")):
        submission = fleet.submit(source(200 if victim == "device" else 1), pack=pack)
        expected[submission] = "AC"
        worker = processes[victim]
        fleet.wait(lambda it=submission, wanted=state: fleet.state(it) == wanted, f"it is {state}")  # type: ignore[misc]
        fleet.wait(lambda pid=worker.pid: descendants(pid), "it works in a jail")  # type: ignore[misc]
        family = descendants(worker.pid)
        fleet.kill(worker)
        processes[victim] = fleet.start_engine(victim)
        fleet.wait(lambda left=family: not any(Path(f"/proc/{pid}").exists() for pid in left), "its jail is gone")  # type: ignore[misc]
        fleet.wait_finished(submission)
        assert fleet.events(submission).count(state) == 2
    check_each_judged_once(fleet, expected)


def test_stopped_while_the_runner_works_it_leaves_at_once(engine_fleet: Fleet, packs: dict[str, Pack]) -> None:
    fleet = engine_fleet
    processes = {kind: fleet.start_engine(kind) for kind in KINDS}
    submission = fleet.submit(source(2000), pack=packs["vector-add"])
    worker = processes["device"]
    fleet.wait(lambda: fleet.state(submission) == "running" and bool(descendants(worker.pid)), "it runs", within_s=400)
    family = descendants(worker.pid)
    worker.terminate()
    worker.wait(timeout=60)  # Long before the grace ends.
    # What is dead and was the worker's is for init to bury.
    fleet.wait(lambda: not any(Path(f"/proc/{pid}").exists() for pid in family), "its jails are gone")
    assert fleet.state(submission) == "built"
