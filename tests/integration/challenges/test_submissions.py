"""The submissions that the built-in packs bring, and our own kernels, judged for real on the emulator.

One file of each verdict in each pack; ``benchmarks/expected_verdicts.py`` takes all of them, on any device.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.judgement import DeviceInfo
from judge.packs.collection.loader import load_pack
from judge.packs.submissions import ListedSubmission, listed_submissions
from judge.settings import JudgeSettings
from judge.verdict import Verdict

ROOT = Path(__file__).resolve().parents[3]
SLUGS = ("attention", "gemm", "int8-matmul", "reduction", "softmax", "vector-add")

pytestmark = [
    pytest.mark.jail,
    pytest.mark.nvcc,
    pytest.mark.recorded(*(f"{folder}/{slug}" for folder in ("challenges", "reference_solutions") for slug in SLUGS)),
]

#: Waiting for a limit takes as long as the limit: two packs are enough, one with a kernel that hangs and one with a
#: host that does.
HANGING = ("reduction", "vector-add")


def chosen() -> list[ListedSubmission]:
    by_folder: dict[Path, ListedSubmission] = {}
    for slug in SLUGS:
        for submission in listed_submissions(load_pack(ROOT / "challenges" / slug)):
            if Verdict.TIME_LIMIT_EXCEEDED not in submission.verdicts or slug in HANGING:
                by_folder.setdefault(submission.path.parent, submission)
    return list(by_folder.values())


@pytest.fixture(scope="module")
def emulator(judge_settings: JudgeSettings) -> DeviceInfo:
    return BUILTIN_BACKENDS.find_device("emulator", judge_settings)


@pytest.mark.exhaustive
@pytest.mark.parametrize("submission", chosen(), ids=lambda it: str(it.path.relative_to(ROOT / "challenges")))
def test_submissions_get_their_verdicts(
    submission: ListedSubmission, emulator: DeviceInfo, judge_settings: JudgeSettings
) -> None:
    pack = load_pack(submission.path.parents[2])
    if submission.verdicts == {Verdict.TIME_LIMIT_EXCEEDED}:
        # It hangs, and would keep a processor busy for as long as the pack allows.
        pack = dataclasses.replace(pack, limits=dataclasses.replace(pack.limits, wall_s=1.0))
    judgement = pipeline.judge(submission.path.read_bytes(), pack, emulator, 1, judge_settings)
    assert submission.complaint(judgement) is None


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "slug",
    # That of attention is emulated for a quarter of a minute.
    [pytest.param(slug, marks=pytest.mark.exhaustive(costly=True) if slug == "attention" else ()) for slug in SLUGS],
)
def test_our_tuned_kernels_are_accepted_and_beat_the_plain_ones(
    slug: str, emulator: DeviceInfo, judge_settings: JudgeSettings
) -> None:
    pack = load_pack(ROOT / "challenges" / slug)
    values = {}
    for name in ("plain", "tuned"):
        source = (ROOT / "reference_solutions" / slug / f"{name}.cu").read_bytes()
        judgement = pipeline.judge(source, pack, emulator, 1, judge_settings)
        assert judgement.verdict is Verdict.ACCEPTED, judgement.message
        assert judgement.measurement is not None
        values[name] = judgement.measurement.value
    assert values["tuned"] < values["plain"]
