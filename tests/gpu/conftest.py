from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.gpu.discovery import find_gpus
from judge.judgement import DeviceInfo, Judgement
from judge.packs.pack import Pack
from judge.settings import JudgeSettings


@pytest.fixture(scope="session")
def gpu(judge_settings: JudgeSettings) -> DeviceInfo:
    """The first GPU of this machine; of several processes that test at the same time, each has the next one."""
    devices = find_gpus(judge_settings).devices
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    gpu = devices[worker % len(devices)] if devices else BUILTIN_BACKENDS.find_device("cuda:0", judge_settings)
    # As workers and the CLI do: without the native library, inputs take seconds.
    BUILTIN_BACKENDS.of(gpu.kind).prepare(judge_settings)
    return gpu


JudgeOnGpu = Callable[..., Judgement]


@pytest.fixture
def judge_on_gpu(gpu: DeviceInfo, packs: dict[str, Pack], judge_settings: JudgeSettings) -> JudgeOnGpu:
    """``judge_on_gpu(source, slug, mode)``: the judgement of a source on the first GPU."""

    def judge(source: str, slug: str = "vector-add", mode: pipeline.Mode = pipeline.Mode.RUN) -> Judgement:
        return pipeline.judge(source.encode(), packs[slug], gpu, 11, judge_settings, mode=mode)

    return judge
