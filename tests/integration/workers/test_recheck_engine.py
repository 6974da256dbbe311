"""A GPU that accepts everything, and the real emulator behind it: from the submission to what its page shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from judge.judgement import BuildReport, DeviceInfo, Judgement
from judge.packs.pack import Pack
from store.boards.rechecks import find_recheck
from store.devices import upsert_device
from store.models import RecheckRequest
from tests.fake_judge import GPU, FakeArtifact, FakeJudge
from tests.integration.test_rechecking import CLEAN, OF_BLACKWELL, RACY
from tests.integration.workers.conftest import MakeFleet
from workers.context import WorkerContext, make_context
from workers.judging import PipelineJudge
from workers.turns import build_or_help_one, run_or_help_one

pytestmark = [pytest.mark.jail, pytest.mark.nvcc, pytest.mark.recorded("challenges/reduction")]


class WithFakeGpu(PipelineJudge):
    """The engine, but for the GPU, on which every source is right and takes a second."""

    def build(self, source: bytes, pack: Pack, device: DeviceInfo) -> tuple[BuildReport, FakeArtifact | None]:  # noqa: ARG002
        return FakeJudge().build(b"", pack, device)

    def run(self, artifact: bytes, report: BuildReport, pack: Pack, device: DeviceInfo, **given: Any) -> Judgement:
        return FakeJudge().run(artifact, report, pack, device, **given)


def test_the_emulator_finds_what_a_gpu_hides(make_fleet: MakeFleet, packs: dict[str, Pack], library: Path) -> None:
    assert library.exists()
    fleet, pack = make_fleet(), packs["reduction"]
    context = make_context(fleet.settings, judge=WithFakeGpu(fleet.settings.judge_settings()), packs={pack.slug: pack})
    with context.sessions.begin() as session:
        upsert_device(session, GPU, now=context.clock())
    sources = (RACY % "if (step > 32) __syncthreads();", CLEAN, OF_BLACKWELL)
    sent = [fleet.submit(source, device_key=GPU.key, pack=pack, ring_bell=False) for source in sources]
    for _ in sent:
        assert build_or_help_one(context)
        assert run_or_help_one(context, GPU)
    assert [fleet.verdict(each) for each in sent] == ["AC"] * 3
    while run_or_help_one(context, GPU, rung_before=context.clock()):
        pass
    found = [_check(context, fleet.submission, each) for each in sent]
    assert [(each.outcome, each.headline) for each in found] == [
        ("found", "right by luck on this GPU: race on shared memory, line 8"),
        ("clean", "nothing found on the emulator"),
        ("unchecked", "it does not compile for the emulator (compute_80)"),
    ]
    context.doorbell.close()
    context.engine.dispose()


def _check(context: WorkerContext, submission: Any, public_id: str) -> RecheckRequest:
    with context.reads() as session:
        found = find_recheck(session, submission(session, public_id))
        assert found is not None
        return found
