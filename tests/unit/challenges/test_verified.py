"""Every built-in challenge is verified: the ledger has it as it is, or a quick verification finds no error."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.verify import Severity, verify_pack
from judge.verify.ledger import Digests, read_ledger

PACKS = Path(__file__).resolve().parents[3] / "challenges"


@pytest.mark.parametrize("slug", sorted(path.parent.name for path in PACKS.glob("*/challenge.toml")))
def test_a_challenge_is_verified(slug: str) -> None:
    if Digests.of(PACKS / slug).are_of_files_in(read_ledger(PACKS).get(slug)):
        return
    findings = verify_pack(PACKS / slug).findings
    assert [str(finding) for finding in findings if finding.severity is Severity.ERROR] == []


def test_the_ledger_has_no_challenge_that_is_gone() -> None:
    assert set(read_ledger(PACKS)) <= {path.parent.name for path in PACKS.glob("*/challenge.toml")}
