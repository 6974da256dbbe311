"""A whole audit with the engine's own timing, on the device of host memory in the real jail.

The board's order is what was measured, whatever the judge had measured before, and a lying runner costs its submission
the place.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from judge.judgement import BuildReport, Judgement
from judge.measurements import Measurement
from judge.settings import JudgeSettings, RunLimits
from judge.verdict import Verdict
from store.boards.audits import find_audit
from store.boards.board_key import BoardKey
from store.boards.leaderboards import leaderboard
from store.queue.jobs import Stage, claim_job, finish_build, finish_judged
from tests.host_device.backend import BACKENDS, LANGUAGES
from tests.host_device.judging import DEVICE, twice_pack
from tests.integration.workers.conftest import MakeFleet
from workers.audit import audit_one
from workers.context import make_context
from workers.judging import PipelineJudge

pytestmark = [pytest.mark.jail, pytest.mark.nvcc]

PACK = dataclasses.replace(
    twice_pack(),
    benchmarks=(dataclasses.replace(twice_pack().benchmarks[0], axes={"N": 2000}),),
    bench=dataclasses.replace(twice_pack().bench, budget_s=0.4),
)
#: Takes so long and leaves the processor to others.
SLEEPS = """
#include <time.h>
extern "C" void solve(const float* in, float* out, int n) {
    for (int i = 0; i < n; i++) out[i] = 2 * in[i];
    timespec t = {0, NANOSECONDS};
    nanosleep(&t, nullptr);
}
"""
#: Takes the runner over, and has it tell half of each time.
LIES = """
extern "C" { int PyGILState_Ensure(); void PyGILState_Release(int); int PyRun_SimpleString(const char*); }
__attribute__((constructor)) static void patch() {
    int state = PyGILState_Ensure();
    PyRun_SimpleString(R"(
import tests.host_device.device as device
honest = device.HostDevice.time_call
device.HostDevice.time_call = lambda self, call: honest(self, call) / 2
)");
    PyGILState_Release(state);
}
"""


@pytest.mark.slow(40)
def test_an_audit_measures(make_fleet: MakeFleet, tmp_path: Path) -> None:
    fleet = make_fleet()
    settings = JudgeSettings(data_dir=tmp_path, run=RunLimits(memory_bytes=512 << 20))
    judge = PipelineJudge(settings, BACKENDS, LANGUAGES)
    context = make_context(fleet.settings, judge=judge, packs={PACK.slug: PACK})
    sent = {}
    for name, milliseconds, judged_s in (("ada", 6, 1e-3), ("bob", 3, 2e-3), ("mallory", 3, 1.5e-3)):
        source = (LIES if name == "mallory" else "") + SLEEPS.replace("NANOSECONDS", str(milliseconds * 1_000_000))
        sent[name] = fleet.submit(source, ring_bell=False, device_key=DEVICE.key, pack=PACK, username=name)
        score = Measurement("time_s", judged_s, 150, 0.01, low=0.99 * judged_s, high=1.01 * judged_s)
        report = BuildReport(ok=True, wall_s=0.1)
        judgement = Judgement(Verdict.ACCEPTED, PACK.slug, PACK.version, DEVICE, report, measurement=score)
        with context.sessions.begin() as session:
            now, rules = context.clock(), context.rules
            lease = claim_job(session, Stage.BUILD, owner="w", now=now, rules=rules)
            assert lease is not None
            assert finish_build(session, lease, digest="0", data=b"-", report=report, now=now)
            lease = claim_job(session, Stage.RUN, owner="w", now=now, rules=rules)
            assert lease is not None
            assert finish_judged(session, lease, judgement, now=now)

    assert audit_one(context, DEVICE)
    with context.reads() as session:
        board = leaderboard(session, BoardKey(PACK.slug, DEVICE.key, 1))
        audits = {name: find_audit(session, fleet.submission(session, public_id)) for name, public_id in sent.items()}
    found = {name: audit for name, audit in audits.items() if audit is not None}
    assert set(found) == set(sent)
    assert found["mallory"].verdict == "TI"
    assert "by the judge's own clock" in found["mallory"].message
    # Where the machine has more to do than processors the judge's own clock sees honest calls take longer, too.
    assert {audit.verdict for audit in found.values()} <= {"AC", "TI"}
    on_board = [name for name in ("bob", "ada") if found[name].verdict == "AC"]
    assert [entry.username for entry in board] == on_board
    for entry in board:
        measurement = found[entry.username].measurement
        assert measurement is not None
        # Less what an empty call reads.
        assert entry.value == measurement.value >= {"ada": 5.99e-3, "bob": 2.99e-3}[entry.username]
        assert (entry.low, entry.high) == (measurement.low, measurement.high)
        assert len(measurement.cases[0].processes) == 3
        assert entry.fingerprint is not None
        assert entry.fingerprint.pack == "twice 1.0.0"
    context.doorbell.close()
    context.engine.dispose()
