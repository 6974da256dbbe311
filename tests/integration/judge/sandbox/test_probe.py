from __future__ import annotations

import pytest

from judge.sandbox import probe


@pytest.mark.jail
def test_every_protection_that_is_required_holds_here() -> None:
    found = probe.probes()
    assert [f"{one.name}: {one.detail}" for one in found if one.required and not one.ok] == []
    names = {one.name for one in found}
    assert {"identity", "files", "network", "process limit", "memory limit", "whole tree dies", "tmpfs quota"} <= names
