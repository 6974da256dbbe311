from __future__ import annotations

import pytest

from judge.sandbox import launch, probe, probe_groups


@pytest.mark.jail
def test_every_protection_that_is_required_holds_here() -> None:
    found = probe.probes()
    assert [f"{one.name}: {one.detail}" for one in found if one.required and not one.ok] == []
    names = {one.name for one in found}
    assert {"identity", "files", "network", "process limit", "memory limit", "whole tree dies", "tmpfs quota"} <= names


@pytest.mark.jail
@pytest.mark.parametrize("permitted", [True, False])
def test_where_there_is_a_gpu_it_is_told_whether_a_jail_may_go_first(
    permitted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe_groups, "visible_minors", lambda: [0])
    monkeypatch.setattr(launch.JailProcess, "schedule_in_real_time", lambda _: permitted)
    [found] = probe_groups.real_time()
    assert not found.required
    assert found.ok <= permitted
    assert "rtprio" in found.remedy.lower()
