from __future__ import annotations

import pytest

from judge.errors import JailUnavailable
from judge.sandbox import probe, probe_groups, remedies
from judge.sandbox.cgroup_hierarchy import Hierarchy


def test_without_bubblewrap_only_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise JailUnavailable("bubblewrap is not installed", "apt-get install -y bubblewrap")

    monkeypatch.setattr(probe, "find_bwrap", missing)
    (only,) = probe.probes()
    assert not only.ok
    assert only.required
    assert only.remedy == "apt-get install -y bubblewrap"


def test_a_protection_that_breaks_down_was_not_seen_to_hold() -> None:
    def network() -> list[probe.Probe]:
        raise OSError("broken")

    (only,) = probe._attempt(network)
    assert (only.name, only.ok) == ("network", False)


def test_missing_controllers_are_told_but_not_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_groups, "find_hierarchy", lambda: Hierarchy(2, {}))
    found = probe_groups.cgroups()
    assert not found.ok
    assert not found.required
    assert "memory" in found.detail
    assert found.remedy


@pytest.mark.parametrize(
    ("files", "container", "says"),
    [
        ({"/proc/sys/kernel/unprivileged_userns_clone": 0}, False, "unprivileged_userns_clone=1"),
        ({"/proc/sys/user/max_user_namespaces": 0}, False, "max_user_namespaces"),
        ({"/proc/sys/kernel/apparmor_restrict_unprivileged_userns": 1}, False, "/etc/apparmor.d/bwrap"),
        ({}, True, "--security-opt systempaths=unconfined"),
        ({}, False, "user namespaces are refused"),
    ],
)
def test_the_command_for_each_machine(
    files: dict[str, int], container: bool, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remedies, "_number", files.get)
    monkeypatch.setattr(remedies, "in_container", lambda: container)
    assert says in remedies.for_failure("bwrap: setting up uid map: Permission denied")
