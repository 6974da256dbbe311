"""Every built-in challenge is verified: the ledger has it as it is, or a quick verification finds no error.

Of the kernels a quick verification sees only whether there are any and whether they say TODO: where they alone changed,
that is what is checked.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.packs.collection.loader import load_pack
from judge.verify import Severity, verify_pack
from judge.verify.kernels import check_listing
from judge.verify.ledger import Digests, read_ledger
from judge.verify.texts import check_todo

PACKS = Path(__file__).resolve().parents[3] / "challenges"


@pytest.mark.exhaustive(share=10)
@pytest.mark.parametrize("slug", sorted(path.parent.name for path in PACKS.glob("*/challenge.toml")))
def test_a_challenge_is_verified(slug: str) -> None:
    entry, now = read_ledger(PACKS).get(slug), Digests.of(PACKS / slug)
    if now.are_of_files_in(entry):
        return
    if entry is not None and entry.pack == now.pack:
        pack = load_pack(PACKS / slug)
        findings = [*check_todo(pack), *check_listing(pack)]
    else:
        findings = list(verify_pack(PACKS / slug).findings)
    assert [str(finding) for finding in findings if finding.severity is Severity.ERROR] == []


def test_the_ledger_has_no_challenge_that_is_gone() -> None:
    assert set(read_ledger(PACKS)) <= {path.parent.name for path in PACKS.glob("*/challenge.toml")}
