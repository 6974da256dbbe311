from pathlib import Path

import pytest

from judge.gpu.health import RETRY_S, GpuHealth, out_of_service
from judge.gpu.nvml import GpuState
from judge.judgement import DeviceInfo
from judge.settings import JudgeSettings
from tests.fake_gpu import FakeGpuWatch

GPU = DeviceInfo("gpu", "cuda", "GPU", "9.0", {"uuid_hash": "abc"})
GIB = 1 << 30


class Bench:
    """A GPU whose state, trial and clock a test sets."""

    def __init__(self, data_dir: Path, *, watched: bool = True) -> None:
        self.settings = JudgeSettings(data_dir=data_dir)
        self.watch = FakeGpuWatch([GpuState(memory_used_bytes=GIB)])
        self.now_s = 1000.0
        self.wrong = ""
        self.trials = 0
        watch = self.watch if watched else None
        self.health = GpuHealth(GPU, self.settings, watch, self.trial, waiting=3, clock=lambda: self.now_s)

    def trial(self) -> str:
        self.trials += 1
        return self.wrong

    def fit(self, after_s: float = 0.0, **state: object) -> bool:
        self.now_s += after_s
        self.watch.states = [GpuState(**{"memory_used_bytes": GIB, **state})]  # type: ignore[arg-type]
        return self.health.fit()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.mark.parametrize("xid", [13, 31, 43, 45])
def test_faults_of_submissions_are_no_faults_of_the_board(bench: Bench, xid: int) -> None:
    assert bench.fit(xids=(xid,))


def test_a_fault_takes_it_out_of_service_until_it_works_again(bench: Bench) -> None:
    assert not bench.fit(xids=(13, 79))
    assert "79" in bench.health.problem
    assert "Xid 79" in out_of_service(bench.settings, GPU)
    assert not bench.fit(RETRY_S - 1)
    assert bench.trials == 0
    bench.wrong = "cuInit failed"
    assert not bench.fit(1)
    assert bench.health.problem == "cuInit failed"
    bench.wrong = ""
    assert not bench.fit(RETRY_S - 1)
    assert bench.fit(1)
    assert (bench.health.problem, out_of_service(bench.settings, GPU)) == ("", "")


@pytest.mark.parametrize(
    "state",
    [{"other_pids": (77,)}, {"memory_used_bytes": 6 * GIB}, {"utilisation": 0.9}],
    ids=["another program", "memory", "utilisation"],
)
def test_it_gets_no_job_while_it_is_used_and_goes_out_of_service_if_that_stays(
    bench: Bench, state: dict[str, object]
) -> None:
    assert not bench.fit(**state)
    assert not bench.fit(5, **state)
    assert bench.health.problem == ""
    assert bench.fit(1)
    assert not bench.fit(1, **state)
    assert not bench.fit(9, **state)
    assert bench.health.problem == ""
    assert not bench.fit(1, **state)
    assert bench.health.problem
    assert bench.fit(RETRY_S)


def test_a_jobs_own_load_is_none_and_waiting_runners_may_take_memory(bench: Bench) -> None:
    bench.health.job_ended(failed=False)
    assert bench.fit(0.5, utilisation=1.0, memory_used_bytes=4 * GIB)
    assert not bench.fit(2, utilisation=1.0)


def test_after_a_failure_of_the_machine_it_is_tried_first(bench: Bench) -> None:
    bench.health.job_ended(failed=True)
    assert bench.fit()
    assert bench.trials == 1
    assert bench.fit()
    assert bench.trials == 1
    bench.health.job_ended(failed=True)
    bench.wrong = "no answer"
    assert not bench.fit()
    assert bench.health.problem == "no answer"


def test_without_nvml_only_trials_tell(tmp_path: Path) -> None:
    bench = Bench(tmp_path, watched=False)
    assert bench.fit(xids=(79,))
    bench.health.job_ended(failed=True)
    bench.wrong = "no answer"
    assert not bench.fit()
