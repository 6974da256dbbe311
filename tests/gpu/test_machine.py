"""A real GPU between jobs: what NVML says of it, what it remembers, and runners that wait on it."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.backends.sessions import warm_runners
from judge.gpu.health import GpuHealth
from judge.gpu.lock import device_lock
from judge.gpu.nvml import GpuWatch, watch_device
from judge.gpu.trial import remembers, why_not_working
from judge.judgement import DeviceInfo
from judge.packs.pack import Pack
from judge.settings import JudgeSettings
from judge.supervisor.warm_pool import WarmPool
from judge.verdict import Verdict
from tests.gpu import kernels

pytestmark = [pytest.mark.gpu, pytest.mark.timed]


@pytest.fixture
def watch(gpu: DeviceInfo) -> Iterator[GpuWatch]:
    watch = watch_device(gpu)
    if watch is None:
        pytest.skip("no NVML here")
    yield watch
    watch.close()


def test_nvml_tells_of_clocks_and_power(watch: GpuWatch) -> None:
    state = watch.sample()
    assert state.sm_mhz is not None
    assert 100 < state.sm_mhz < 4000
    assert state.memory_mhz is not None
    assert state.temperature_c is not None
    assert 10 < state.temperature_c < 110
    assert state.power_w is not None
    assert state.power_capped is not None
    assert state.xids == ()
    started = time.perf_counter()
    for _ in range(20):
        watch.sample()
    print(f"one sample of NVML takes {1e3 * (time.perf_counter() - started) / 20:.2f} ms")


def test_it_works_and_shows_nobody_what_another_process_left(gpu: DeviceInfo, judge_settings: JudgeSettings) -> None:
    with device_lock(gpu, judge_settings):
        assert why_not_working(gpu, judge_settings) == ""
        assert not remembers(gpu, judge_settings)


@pytest.fixture
def warm(gpu: DeviceInfo, judge_settings: JudgeSettings) -> Iterator[WarmPool]:
    problems: list[str] = []
    backend = BUILTIN_BACKENDS.of(gpu.kind)
    pool = warm_runners(backend, gpu, judge_settings, backend.warm_runners(gpu), problems.append)
    deadline = time.monotonic() + 60
    while not pool.is_full:
        assert time.monotonic() < deadline, problems
        time.sleep(0.05)
    yield pool
    pool.close()


def test_runners_that_wait_judge_as_others_do(
    gpu: DeviceInfo, judge_settings: JudgeSettings, packs: dict[str, Pack], warm: WarmPool
) -> None:
    pack = packs["vector-add"]
    report, artifact = pipeline.build(kernels.HONEST.encode(), pack, gpu, judge_settings)
    assert artifact is not None
    walls = {}
    for name, pool in (("cold", None), ("warm", warm), ("cold again", None)):
        judgement = pipeline.run(artifact, report, pack, gpu, 11, judge_settings, mode=pipeline.Mode.RUN, warm=pool)
        assert judgement.verdict is Verdict.ACCEPTED, judgement.message
        walls[name] = judgement.wall_s
    print(walls)


def test_waiting_runners_are_no_disturbance(
    gpu: DeviceInfo, judge_settings: JudgeSettings, watch: GpuWatch, warm: WarmPool
) -> None:
    assert watch.sample().other_pids == ()
    waiting = warm.ready
    health = GpuHealth(gpu, judge_settings, watch, lambda: "", waiting=0)
    time.sleep(2.5)
    assert health.fit(), health.problem
    assert warm.ready == waiting
