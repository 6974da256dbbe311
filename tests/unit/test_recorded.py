from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import pytest

from tests import recorded

Item = Callable[..., pytest.Item]


@pytest.fixture(autouse=True)
def _a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "ROOT", tmp_path)
    monkeypatch.setattr(recorded, "_engine", lambda: "an engine")
    monkeypatch.setattr(recorded, "_digest", recorded._digest.__wrapped__)
    monkeypatch.setattr(recorded, "_PASSED", tmp_path / ".cache" / "passed")
    monkeypatch.setattr(recorded, "_passed", recorded._passed.__wrapped__)
    monkeypatch.setattr(recorded, "_passed_bytes", None)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text("def test_it(): ...\n")
    (tmp_path / "packs" / "gemm").mkdir(parents=True)
    (tmp_path / "packs" / "gemm" / "challenge.toml").write_text("id = 'gemm'\n")


@pytest.fixture
def item(request: pytest.FixtureRequest, tmp_path: Path) -> Item:
    def make(*paths: str, name: str = "test_it") -> pytest.Item:
        made = pytest.Function.from_parent(request.node.parent, name=name, callobj=lambda: None)
        made.path = tmp_path / "tests" / "test_it.py"
        made.add_marker(pytest.mark.recorded(*paths))
        return made

    return make


Outcome = Literal["passed", "failed", "skipped"]


def _report(item: pytest.Item, outcome: Outcome = "passed", xfail: str | None = None) -> pytest.TestReport:
    report = pytest.TestReport(item.nodeid, item.location, {}, outcome, None, "call")
    if xfail is not None:
        report.wasxfail = xfail
    return report


def _is_known(item: pytest.Item) -> bool:
    """Whether a later session leaves it out."""
    recorded.mark_known([item])
    return item.get_closest_marker("on_record") is not None


def test_what_passed_is_known_until_something_changes(
    item: Item, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded.keep_passed(one := item("packs/gemm"), _report(one))
    assert _is_known(item("packs/gemm"))
    assert not _is_known(item("packs/gemm", name="test_another"))
    (tmp_path / "packs" / "gemm" / "reference.py").write_text("def reference(): ...\n")
    assert not _is_known(item("packs/gemm"))
    recorded.keep_passed(one := item("packs/gemm"), _report(one))
    assert _is_known(item("packs/gemm"))
    (tmp_path / "tests" / "test_it.py").write_text("def test_it(): assert True\n")
    assert not _is_known(item("packs/gemm"))
    recorded.keep_passed(one := item("packs/gemm"), _report(one))
    monkeypatch.setattr(recorded, "_engine", lambda: "another engine")
    assert not _is_known(item("packs/gemm"))


@pytest.mark.parametrize(("outcome", "xfail"), [("failed", None), ("skipped", None), ("passed", "open")])
def test_what_did_not_pass_is_not_kept(item: Item, outcome: Outcome, xfail: str | None) -> None:
    recorded.keep_passed(one := item("packs/gemm"), _report(one, outcome, xfail))
    assert not _is_known(item("packs/gemm"))


def test_a_path_that_is_not_there_is_an_error(item: Item) -> None:
    with pytest.raises(AssertionError, match="packs/none"):
        recorded.mark_known([item("packs/none")])


def test_a_session_goes_by_what_was_on_record_when_it_began(item: Item) -> None:
    """A process that takes the place of one that crashed collects what the others did."""
    given: dict[str, Any] = {}
    recorded.keep_passed(one := item("packs/gemm"), _report(one))
    alone: Any = SimpleNamespace()
    of_xdist: Any = SimpleNamespace(workerinput=given)
    recorded.configure(alone)
    recorded.configure_process(given)
    recorded.keep_passed(one := item("packs/gemm", name="test_another"), _report(one))
    recorded.configure(of_xdist)
    assert _is_known(item("packs/gemm"))
    assert not _is_known(item("packs/gemm", name="test_another"))
    recorded.configure(alone)
    assert _is_known(item("packs/gemm", name="test_another"))
