from __future__ import annotations

from pathlib import Path

import pytest

from judge.errors import JailUnavailable
from judge.sandbox import bwrap
from judge.sandbox.bind import Bind
from judge.sandbox.policy import MIB, Limits, Policy


@pytest.fixture(autouse=True)
def _found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bwrap, "find_bwrap", lambda: "/usr/bin/bwrap")


def arguments(policy: Policy, **changes: object) -> list[str]:
    given: dict[str, object] = {"sources": {}, "status_fd": 9, "seccomp_fd": 8, **changes}
    return bwrap.bwrap_arguments(policy, ["/bin/true", "--flag"], **given)  # type: ignore[arg-type]


def holds(words: list[str], *wanted: str) -> int:
    """Where these words stand next to each other."""
    for index in range(len(words)):
        if words[index : index + len(wanted)] == list(wanted):
            return index
    raise AssertionError(f"{wanted} not in {words}")


def test_every_namespace_and_nothing_inherited() -> None:
    words = arguments(Policy(Limits()))
    assert {"--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent"} <= set(words)
    assert {"--new-session", "--clearenv"} <= set(words)
    assert "--share-net" not in words
    assert words[-3:] == ["--", "/bin/true", "--flag"]
    assert holds(words, "--seccomp", "8")


def test_quotas_come_before_the_folders_they_are_for_and_the_root_is_shut_last() -> None:
    words = arguments(Policy(Limits(tmpfs_bytes=5 * MIB), binds=(Bind(Path("/opt/x"), "/tmp/x"),)))
    size = str(5 * MIB)
    tmp = holds(words, "--size", size, "--tmpfs", "/tmp")
    holds(words, "--size", size, "--tmpfs", "/dev/shm")
    bind = holds(words, "--ro-bind", "/opt/x", "/tmp/x")
    shut = holds(words, "--remount-ro", "/")
    assert tmp < bind < shut


def test_kinds_of_binds_and_where_they_were_brought() -> None:
    policy = Policy(
        Limits(),
        binds=(
            Bind.same(Path("/root/venv")),
            Bind.same(Path("/dev/nvidia0"), "dev"),
            Bind(Path("/data/x"), "/work", "rw"),
        ),
    )
    words = arguments(policy, sources={Path("/root/venv"): "/mnt/0"})
    holds(words, "--ro-bind", "/mnt/0", "/root/venv")
    holds(words, "--dev-bind", "/dev/nvidia0", "/dev/nvidia0")
    holds(words, "--bind", "/data/x", "/work")


def test_hidden_folders_are_covered_after_the_binds() -> None:
    policy = Policy(Limits(), binds=(Bind.same(Path("/opt/site")),), hidden=("/opt/site/challenges",))
    words = arguments(policy)
    assert holds(words, "--ro-bind", "/opt/site", "/opt/site") < holds(words, "--tmpfs", "/opt/site/challenges")


def test_the_environment_is_the_policys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "x")
    words = arguments(Policy(Limits(), env={"LANG": "C"}))
    holds(words, "--setenv", "LANG", "C")
    assert words.count("--setenv") == 1


def test_no_filter_where_none_is_wanted() -> None:
    assert "--seccomp" not in arguments(Policy(Limits()), seccomp_fd=None)


def test_a_missing_bubblewrap_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(bwrap.shutil, "which", lambda *_, **__: None)
    with pytest.raises(JailUnavailable) as caught:
        bwrap.find_bwrap()
    assert "apt-get install" in caught.value.remedy
