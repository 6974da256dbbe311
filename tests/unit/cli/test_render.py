"""The terminal's lines of a judgement."""

from __future__ import annotations

import dataclasses

from cli.render import lines
from judge.judgement_json import read_judgement
from tests.stored_judgements import load_stored


def test_an_unranked_time_is_printed_like_a_score_and_called_unranked() -> None:
    ranked = read_judgement(load_stored("v3_modelled_time"))
    run = dataclasses.replace(ranked, measurement=None, unranked=ranked.measurement)
    scored, unranked = ([line.plain for line in lines(judgement)] for judgement in (ranked, run))
    assert any(line.startswith("  score   ") for line in scored)
    assert [line.replace("  score   ", "  unranked ") for line in scored] == unranked
    assert any(line.startswith("  lines   ") for line in unranked)
