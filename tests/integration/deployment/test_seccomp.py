"""The containers' system call profile, in force for real: a process without privileges makes its jail and compiles."""

from __future__ import annotations

import ctypes
import json
import os
import struct
import subprocess
from collections.abc import Iterable

import pytest

from docker import make_seccomp
from tests.builds import ROOT

_LOAD, _JUMP_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ERRNO, _ALLOW = 0x00050000, 0x7FFF0000
JAIL = [
    *("bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"),
    *("--hostname", "jail", "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib64", "/lib64"),
    *("--symlink", "usr/lib", "/lib", "--symlink", "usr/bin", "/bin", "--proc", "/proc", "--dev", "/dev"),
    *("--tmpfs", "/tmp", "--chdir", "/tmp"),
]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def _filter(allowed: Iterable[str]) -> bytes:
    """A classic BPF program: these system calls, and ENOSYS for all others."""
    numbers = make_seccomp.known()
    code = struct.pack("HBBI", _LOAD, 0, 0, 0)
    for name in allowed:
        code += struct.pack("HBBI", _JUMP_EQUAL, 0, 1, numbers[name])
        code += struct.pack("HBBI", _RETURN, 0, 0, _ALLOW)
    return code + struct.pack("HBBI", _RETURN, 0, 0, _ERRNO | make_seccomp.ENOSYS)


def _run(allowed: Iterable[str], argv: list[str]) -> subprocess.CompletedProcess[str]:
    """``argv`` under the profile, as nobody where this is root: without capabilities or a way to gain some."""
    code = _filter(allowed)
    program = _Program(len(code) // 8, ctypes.cast(ctypes.c_char_p(code), ctypes.c_void_p))
    libc = ctypes.CDLL(None, use_errno=True)

    def confine() -> None:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)
        libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
        if libc.prctl(22, 2, ctypes.byref(program), 0, 0) != 0:  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
            os._exit(99)

    return subprocess.run(argv, capture_output=True, text=True, check=False, cwd="/", preexec_fn=confine, timeout=120)


@pytest.fixture(scope="module")
def allowed() -> list[str]:
    profile = json.loads((ROOT / "docker/seccomp-worker.json").read_text())
    [rule] = profile["syscalls"]
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    names: list[str] = rule["names"]
    return names


def test_nothing_denied_is_allowed(allowed: list[str]) -> None:
    assert set(allowed) & make_seccomp.denied() == set()
    assert set(make_seccomp.NEEDED_BY_THE_JAIL) <= set(allowed)


@pytest.mark.jail
def test_a_jail_can_be_made(allowed: list[str]) -> None:
    done = _run(allowed, [*JAIL, "/bin/sh", "-c", "hostname; echo $$"])
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == "jail"


@pytest.mark.jail
@pytest.mark.parametrize("name", [name for name in make_seccomp.NEEDED_BY_THE_JAIL if name != "clone"])
def test_what_the_jail_is_said_to_need_it_needs(allowed: list[str], name: str) -> None:
    """Not clone: without it no program starts another, jail or none; what matters of it are its flags."""
    done = _run([one for one in allowed if one != name], [*JAIL, "/bin/true"])
    assert done.returncode != 0


@pytest.mark.jail
@pytest.mark.nvcc
def test_the_host_compiler_works_under_it(allowed: list[str]) -> None:
    script = "echo 'int main() { return 7; }' > a.cpp && g++ -O2 a.cpp -o a && ./a"
    done = _run(allowed, [*JAIL, "/bin/sh", "-c", script])
    assert done.returncode == 7, done.stderr


@pytest.mark.jail
def test_forbidden_calls_fail(allowed: list[str]) -> None:
    """Uses perl, which is on every Debian, and which any user can run wherever this Python lies."""
    number = make_seccomp.known()["ptrace"]
    done = _run(allowed, ["/usr/bin/perl", "-e", f'print syscall({number}, 0, 0, 0, 0), " ", $! + 0'])
    assert done.stdout.split() == ["-1", str(make_seccomp.ENOSYS)], done.stderr
