"""The filters, run by a small interpreter of the kernel's filter language rather than by the kernel."""

from __future__ import annotations

import errno
import platform
import struct

import pytest

from judge.runner import seccomp
from judge.sandbox.seccomp import base_program
from judge.wire.bpf import NUMBERS

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the filters are for x86-64")

X86_64, I386 = 0xC000003E, 0x40000003
PID = 7
BASE = base_program()
BEFORE = seccomp.before_load_program(PID, allow_executable=False)
EMULATOR = seccomp.before_load_program(PID, allow_executable=True)
SCHEDULING = seccomp.scheduling_program()
AFTER = seccomp.after_load_program()
SIGCHLD, CLONE_VM, CLONE_VFORK, CLONE_THREAD, CLONE_NEWUSER = 17, 0x100, 0x4000, 0x10000, 0x10000000


def judge(program: bytes, call: str | int, *arguments: int, arch: int = X86_64) -> str:
    """``allow``, ``kill`` or the name of the error that the filter gives for this call."""
    number = NUMBERS[call] if isinstance(call, str) else call
    padded = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("<IIQ6Q", number, arch, 0, *(value & 0xFFFFFFFFFFFFFFFF for value in padded))
    instructions = [struct.unpack_from("<HBBI", program, offset) for offset in range(0, len(program), 8)]
    assert len(instructions) <= 4096
    accumulator, at = 0, 0
    while True:
        code, jump_true, jump_false, k = instructions[at]
        at += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, k)
        elif code == 0x06:
            return {0x7FFF0000: "allow", 0x80000000: "kill"}.get(k) or errno.errorcode[k & 0xFFFF]
        else:
            holds = {0x15: accumulator == k, 0x35: accumulator >= k, 0x45: bool(accumulator & k)}[code]
            at += jump_true if holds else jump_false


@pytest.mark.parametrize("program", [BASE, BEFORE, EMULATOR, SCHEDULING, AFTER])
def test_another_table_of_numbers_is_no_way_round(program: bytes) -> None:
    assert judge(program, 39, arch=I386) == "kill"
    assert judge(program, 0x40000000 + 59) == "kill"  # x32
    assert judge(program, 39) == "allow"  # getpid


@pytest.mark.parametrize(
    "call",
    [
        "ptrace",
        "process_vm_writev",
        "bpf",
        "io_uring_setup",
        "keyctl",
        "userfaultfd",
        "mount",
        "unshare",
        "setns",
        "move_mount",
        "kexec_load",
        "open_by_handle_at",
    ],
)
def test_the_way_out_is_shut_in_every_jail(call: str) -> None:
    assert judge(BASE, call) == "kill"


def test_a_compiler_may_start_programs_but_no_namespaces() -> None:
    assert judge(BASE, "execve") == "allow"
    assert judge(BASE, "clone", CLONE_VM | CLONE_VFORK | SIGCHLD) == "allow"
    assert judge(BASE, "clone", CLONE_NEWUSER | SIGCHLD) == "kill"
    assert judge(BASE, "clone3") == "ENOSYS"  # its flags are out of sight
    assert judge(BASE, "socket", 1) == "allow"
    assert judge(BASE, "socket", 2) == "EAFNOSUPPORT"
    assert judge(BASE, "socket", 16) == "EAFNOSUPPORT"


@pytest.mark.parametrize("call", ["execve", "execveat", "fork", "vfork"])
def test_no_program_and_no_process_once_locked(call: str) -> None:
    assert judge(BEFORE, call) == "kill"


@pytest.mark.parametrize("program", [BEFORE, EMULATOR])
def test_no_thread_that_outlasts_a_constructor(program: bytes) -> None:
    assert judge(program, "clone", CLONE_VM | CLONE_THREAD) == "EPERM"
    assert judge(program, "clone", CLONE_VM | CLONE_VFORK | SIGCHLD) == "kill"
    assert judge(program, "clone3") == "ENOSYS"


def test_sockets_once_locked() -> None:
    assert judge(BEFORE, "socket", 2, 1, 0) == "kill"
    assert judge(BEFORE, "socket", 10, 1, 0) == "kill"
    assert judge(BEFORE, "socket", 1, 1, 0) == "EPERM"
    assert judge(BEFORE, "connect", 3) == "EPERM"


@pytest.mark.parametrize("call", ["kill", "tgkill"])
def test_signals_only_to_oneself(call: str) -> None:
    assert judge(BEFORE, call, PID, 6) == "allow"
    assert judge(BEFORE, call, 1, 9) == "kill"
    assert judge(BEFORE, call, -1, 9) == "kill"


def test_the_process_stays_undumpable() -> None:
    assert judge(BEFORE, "prctl", 4, 1) == "EPERM"
    assert judge(BEFORE, "prctl", 15, 0) == "allow"  # PR_SET_NAME, which drivers use


READ, WRITE, EXEC, PRIVATE, ANONYMOUS = 1, 2, 4, 2, 0x20


def test_code_comes_only_from_files_that_are_there_once_locked() -> None:
    assert judge(BEFORE, "mmap", 0, 4096, READ | EXEC, PRIVATE, 3) == "allow"  # what the loader does
    assert judge(BEFORE, "mmap", 0, 4096, READ | WRITE, PRIVATE | ANONYMOUS) == "allow"
    assert judge(BEFORE, "mmap", 0, 4096, READ | EXEC, PRIVATE | ANONYMOUS) == "EPERM"
    assert judge(BEFORE, "mprotect", 0x1000, 4096, READ | EXEC) == "EPERM"
    assert judge(BEFORE, "mprotect", 0x1000, 4096, READ) == "allow"
    assert judge(BEFORE, "memfd_create", 0, 0) == "EPERM"
    assert judge(BEFORE, "execve") == "kill"  # the rules behind these still see the call's number


@pytest.mark.parametrize(
    "call",
    ["sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr", "setpriority", "ioprio_set"],
)
def test_where_and_when_it_runs_is_settled_before_it_is_loaded(call: str) -> None:
    assert judge(BEFORE, call) == "allow"  # the runner takes its processor after that
    assert judge(SCHEDULING, call) == "EPERM"


def test_nor_what_a_change_to_another_process_costs() -> None:
    for option in (26, 29, 53, 62):  # PR_SET_TSC, _TIMERSLACK, _SPECULATION_CTRL, PR_SCHED_CORE
        assert judge(SCHEDULING, "prctl", option, 1) == "EPERM"
    assert judge(SCHEDULING, "arch_prctl", 0x1012, 0) == "EPERM"  # ARCH_SET_CPUID


def test_looking_is_allowed_and_giving_way() -> None:
    for number in (24, 140, 143, 145, 204, 252, 315):  # sched_yield, and the counterparts that get
        assert judge(SCHEDULING, number) == "allow"
    assert judge(SCHEDULING, "prctl", 15, 0) == "allow"
    assert judge(SCHEDULING, "arch_prctl", 0x1002, 0x1000) == "allow"  # ARCH_SET_FS
    assert judge(SCHEDULING, "seccomp", 1) == "allow"  # for the next filter


def test_no_new_code_once_loaded() -> None:
    assert judge(AFTER, "mmap", 0, 4096, READ | WRITE, PRIVATE | ANONYMOUS) == "allow"
    assert judge(AFTER, "mmap", 0, 4096, READ | EXEC, PRIVATE, 3) == "EPERM"
    assert judge(AFTER, "mprotect", 0x1000, 4096, 7) == "EPERM"
    assert judge(AFTER, "mprotect", 0x1000, 4096, 3) == "allow"


def test_the_emulator_may_still_make_code() -> None:
    assert judge(EMULATOR, "mprotect", 0x1000, 4096, READ | EXEC) == "allow"
    assert judge(EMULATOR, "mmap", 0, 4096, READ | EXEC, PRIVATE | ANONYMOUS) == "allow"


def test_high_halves_do_not_hide_a_flag() -> None:
    """Filters see 64-bit arguments; those tested here are ints to the kernel, which drops the high half."""
    assert judge(BEFORE, "socket", (1 << 32) | 2) == "kill"
    assert judge(BASE, "clone", (1 << 40) | CLONE_NEWUSER) == "kill"
