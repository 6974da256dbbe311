"""Modelled times on the pages: why a submission is slow, and boards that mix no scores of different kinds."""

from __future__ import annotations

import dataclasses
import html
import json
import re
from typing import Any

from judge.judgement import BuildReport, CaseJudgement, Judgement
from judge.measurements import BenchmarkCase, Measurement, ModelledCase, ModelledKernel, ModelledLine
from judge.verdict import Verdict
from tests.web_site import EMULATOR, KERNEL, Site, accepted, post
from web.submissions.presenter import present_report

SOURCE = KERNEL.replace("{\n}", "{\n    int first = A[0];\n}")


COUNTS: dict[str, Any] = {"instructions": {"load": 10, "int": 5}, "active_lanes": 0.5}


def modelled(value: float = 8.25e-6, *, gpu: str = "h200", model: int = 1) -> Measurement:
    """A score of the emulator."""
    kernel = ModelledKernel(
        kernel="add",
        grid=(40, 1, 1),
        block=(256, 1, 1),
        launches=3,
        seconds=7e-6,
        share=0.9,
        limiter="latency",
        occupancy=0.25,
        dram_bytes=4096,
        **COUNTS,
    )
    own = ModelledLine(
        file="kernel.cu", line=4, share=0.72, global_requests=40, global_sectors=320, global_sectors_ideal=40, **COUNTS
    )
    case = ModelledCase(
        id="small",
        value=value,
        samples=(value,),
        bytes=0,
        flops=None,
        warp_instructions=1_234_567,
        launches=3,
        limiter="DRAM bandwidth",
        why=("limited by DRAM bandwidth: 44 % of peak", "bank conflicts: 16-way (line 4)"),
        kernels=(kernel,),
        lines=(own, ModelledLine(file="cuda_fp16.hpp", line=9, share=0.2, **COUNTS)),
    )
    return Measurement("modelled_time_s", value, 1, 0.0, cases=(case,), gpu=gpu, model=model)


def _submit(site: Site, username: str, measurement: Measurement | None, **work: Any) -> str:
    site.add_device()
    answer = post(
        site.visitor(username),
        "/challenges/vector-add/submissions",
        {"source": SOURCE, "device": "emulator", "mode": "submit"},
    )
    site.work(measurement=measurement, **{"cases": accepted("a"), **work})
    return site.visitor(username).get(answer.headers["Location"]).text


def test_the_page_says_why_it_is_slow_and_at_which_lines(site: Site) -> None:
    page = _submit(site, "ada", modelled())
    assert "Why it is slow" in page
    assert "Limited by DRAM bandwidth: 44 % of peak" in page
    assert 'Bank conflicts: 16-way (<a href="#L4" data-line="4">line 4</a>)' in page
    assert "modelled on NVIDIA H200" in page
    assert "1,234,567" in page
    assert "8.0×" in page
    assert "cuda_fp16.hpp:9" in page
    assert "40 of 256" in page
    assert '<span class="heat heat-4" title="72 % of the modelled time">72 %</span>' in page
    assert "median of" not in page


def test_a_run_shows_an_unranked_time_that_enters_no_board(site: Site) -> None:
    site.add_device()
    ada = site.visitor("ada")
    sent = {"source": SOURCE, "device": "emulator", "mode": "run"}
    answer = post(ada, "/challenges/vector-add/submissions", sent)
    site.work(cases=accepted("a"), unranked=modelled())
    path = answer.headers["Location"]
    page = ada.get(path).text
    assert "Bank conflicts: 16-way" in page
    assert '<span class="heat heat-4" title="72 % of the modelled time">72 %</span>' in page
    report = ada.get(f"{path}/report").text
    assert "the time is not ranked" in report
    profile = json.loads(html.unescape(re.findall(r'data-profile="([^"]*)"', report)[0]))
    assert (profile["scale"], profile["case"], profile["seconds"]) == (
        "modelled_time_s/h200/1",
        "small 0 0",
        8.25e-6,
    )
    assert [(line["name"], line["sectors"], line["wavefronts"]) for line in profile["lines"]] == [("line 4", 8.0, None)]
    token = {"Authorization": f"Bearer {site.token_of('ada')}"}
    told = ada.get(f"/api/v1{path}", headers=token).json
    assert told is not None
    assert told["judgement"]["measurement"] is None
    assert told["judgement"]["unranked"]["value"] == 8.25e-6
    assert "8.25" not in ada.get("/challenges/vector-add/leaderboard?device=emulator").text


def test_a_run_without_a_time_says_why() -> None:
    judgement = Judgement(
        Verdict.ACCEPTED,
        "vector-add",
        "1.0.0",
        EMULATOR,
        BuildReport(ok=True, wall_s=0.1),
        accepted("a"),
        message="not timed: C[256] is wrong",
    )
    report = present_report(judgement)
    assert report.message == "The right answer in every case. Not timed: C[256] is wrong."
    assert report.run_profile is None


def test_a_judgement_that_says_less_is_shown_too(site: Site) -> None:
    case = BenchmarkCase(id="small", value=1e-3, samples=(1e-3,), bytes=0, flops=None)
    bare = dataclasses.replace(modelled(), cases=(case,), gpu="retired9")
    page = _submit(site, "ada", bare)
    assert "modelled on RETIRED9" in page
    assert "Why it is slow" not in page


def test_a_board_mixes_neither_metrics_nor_gpus_nor_models(site: Site) -> None:
    scores = {
        "ada": modelled(5e-3, gpu="retired9"),
        "bob": modelled(1e-3),
        "cy": modelled(2e-3, gpu="t4"),
        "di": modelled(3e-3, model=2),
    }
    for username, score in scores.items():
        _submit(site, username, score)
    board = site.app.test_client().get("/leaderboards/vector-add?device=emulator").text
    assert ">di</a>" in board
    assert not any(f">{other}</a>" in board for other in ("ada", "bob", "cy"))
    assert "model of the NVIDIA H200" in board
    index = site.app.test_client().get("/leaderboards/").text
    assert "3.00 ms" in index
    assert "5.00 ms" not in index, "one row for a challenge and device: that of the latest metric"


def test_what_the_emulator_cannot_do_has_a_title_of_its_own(site: Site) -> None:
    message = "not supported by the emulator: wgmma at kernel.cu:4"
    failed = CaseJudgement("a", "sample", Verdict.RUNTIME_ERROR, 0.1, message=message)
    page = _submit(site, "ada", None, cases=(failed,))
    assert "<h2>not supported by the emulator</h2>" in page
    assert "wrong answer" not in page
