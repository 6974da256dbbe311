from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from judge.packs.collection.loader import load_pack
from judge.verify import Severity, check_cost

Edit = Callable[..., Path]

DRAWN = """

def spot_check(rng, inputs, outputs):
    yield {"y": (np.arange(5), reference(inputs["x"][:5], 5, inputs["factor"]), None)}
"""


@pytest.fixture
def edit_small(edit: Edit) -> Edit:
    edit('devices = ["cuda"]\naxes = { N = 100_000_000 }', 'devices = ["cuda"]\naxes = { N = 10_000 }')
    return edit


@pytest.mark.parametrize("added", ["", DRAWN])
@pytest.mark.parametrize(("most_s", "severity"), [(1000.0, Severity.NOTE), (-1.0, Severity.WARNING)])
def test_the_cost_of_a_check_is_told(
    edit_small: Edit, monkeypatch: pytest.MonkeyPatch, added: str, most_s: float, severity: Severity
) -> None:
    directory = edit_small("    return x", "    return x", "reference.py")
    (directory / "reference.py").write_text((directory / "reference.py").read_text() + added)
    monkeypatch.setattr(check_cost, "_MOST_S", most_s)
    (finding,) = check_cost.check_costs(load_pack(directory))
    assert (finding.code, finding.severity) == ("check-cost", severity)
    assert "of a processor" in finding.message


def test_a_check_that_fails_only_on_a_large_case_is_told(edit_small: Edit) -> None:
    directory = edit_small("    return", "    assert N < 10_000, 'too large'\n    return", "reference.py")
    (finding,) = check_cost.check_costs(load_pack(directory))
    assert (finding.code, finding.severity) == ("check-cost", Severity.WARNING)
    assert "too large" in finding.message
