"""Packs that ``pack new`` began need little more: shapes, a reference, a statement and a kernel."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from judge.verify import Severity, verify_pack
from tests.builds import ROOT
from tests.finished_drafts import FINISHED, FinishedDraft


@pytest.mark.exhaustive
@pytest.mark.parametrize("draft", FINISHED, ids=lambda draft: draft.slug)
def test_a_finished_draft_is_in_order(draft: FinishedDraft, tmp_path: Path) -> None:
    folder = draft.write(tmp_path)
    assert len((folder / "challenge.toml").read_text().splitlines()) <= 60
    found = [str(finding) for finding in verify_pack(folder).findings if finding.severity is Severity.ERROR]
    assert found == []


def test_there_are_ten_and_the_catalogue_has_none_of_them() -> None:
    assert len({draft.slug for draft in FINISHED}) == 10
    known = {
        tomllib.loads(file.read_text())["signature"].replace(" ", "")
        for file in (ROOT / "challenges").glob("*/challenge.toml")
    }
    assert not known & {draft.signature.replace(" ", "") for draft in FINISHED}
