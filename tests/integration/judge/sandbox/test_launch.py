"""Real jails: how commands end, what is left of them, and what the limits do."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from judge.errors import JailUnavailable
from judge.sandbox import cgroup, cgroup_hierarchy
from judge.sandbox import launch as launch_module
from judge.sandbox.bind import Bind
from judge.sandbox.launch import JailExit, Output, launch, run_to_end
from judge.sandbox.policy import MIB, Limits, Policy, build_policy, run_policy
from judge.settings import BuildLimits, RunLimits
from tests.killer import Killer, named

pytestmark = pytest.mark.jail

SHELL = Policy(
    Limits(memory_bytes=256 * MIB, processes=32, file_bytes=4 * MIB, tmpfs_bytes=8 * MIB), env={"PATH": "/usr/bin:/bin"}
)


def shell(script: str, policy: Policy = SHELL, wall_s: float = 20) -> Output:
    return run_to_end(policy, ["/bin/sh", "-c", script], wall_s=wall_s, output_bytes=10_000)


def python(code: str, policy: Policy | None = None) -> Output:
    return run_to_end(policy or run_policy(RunLimits()), [sys.executable, "-c", code], wall_s=20, output_bytes=10_000)


@pytest.fixture(params=["cgroup", "rlimits"])
def bounds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Once with the cgroups of this machine, once as on a machine without."""
    if request.param == "rlimits":
        monkeypatch.setattr(cgroup, "find_hierarchy", lambda: cgroup_hierarchy.Hierarchy(2, {}))
    elif set(cgroup.find_hierarchy().missing()) & {"memory", "pids"}:
        pytest.skip("no cgroup can be made here")
    name: str = request.param
    return name


@pytest.mark.parametrize(
    ("script", "code", "by_signal"),
    [
        ("exit 0", 0, None),
        ("exit 3", 3, None),
        ("kill -SEGV $$", None, signal.SIGSEGV),
        ("kill -KILL $$", None, signal.SIGKILL),
    ],
)
def test_how_it_ended(script: str, code: int | None, by_signal: int | None) -> None:
    output = shell(script)
    assert (output.exit.code, output.exit.signal) == (code, by_signal)
    assert output.exit.ok == (code == 0)
    assert not output.timed_out


def test_both_streams_are_kept_up_to_the_limit_and_a_flood_does_not_stop_it() -> None:
    script = "echo out; echo err >&2; head -c 3000000 /dev/zero; exit 4"
    output = run_to_end(SHELL, ["/bin/sh", "-c", script], wall_s=20, output_bytes=100)
    assert output.data.startswith(b"out\nerr\n")
    assert len(output.data) == 100
    assert output.truncated
    assert output.exit.code == 4


def test_a_command_that_will_not_end_is_ended() -> None:
    output = shell("trap '' TERM INT; sleep 60 & sleep 60", wall_s=0.5)
    assert output.timed_out
    assert output.exit.killed
    assert (output.exit.code, output.exit.signal) == (None, None)


def test_closing_the_streams_does_not_hide_a_command_from_the_clock() -> None:
    assert shell("exec >&- 2>&-; sleep 60", wall_s=0.5).timed_out


def test_nothing_is_left_when_a_jail_is_killed() -> None:
    token = f"token-{os.getpid()}-{time.monotonic_ns()}"
    with launch(
        SHELL,
        ["/bin/sh", "-c", f"(setsid sh -c 'echo up; sleep 61; : {token}' &) ; sleep 62; : {token}"],
        stdout=subprocess.PIPE,
    ) as jail:
        assert jail.stdout is not None
        assert jail.stdout.readline() == b"up\n"
        assert not jail.poll()
        jail.kill()
        assert jail.poll()
    deadline = time.monotonic() + 60
    while (left := _having(token)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert left == []


def test_end_can_be_called_again() -> None:
    jail = launch(SHELL, ["/bin/true"])
    assert jail.wait(20)
    first = jail.end()
    assert isinstance(first, JailExit)
    assert jail.end() is first


def test_several_threads_may_end_a_jail() -> None:
    """The thread that waits for a reply sees the end of the runner while another closes the session."""
    for _ in range(5):
        jail = launch(SHELL, ["/bin/sleep", "60"])
        with ThreadPoolExecutor(4) as threads:
            ends = [each.result() for each in [threads.submit(jail.end) for _ in range(4)]]
        assert all(each is ends[0] for each in ends)


def test_a_jail_that_cannot_be_set_up_is_not_a_command_that_failed() -> None:
    broken = replace(SHELL, binds=(Bind(Path("/does/not/exist"), "/x"),))
    with pytest.raises(JailUnavailable, match="/does/not/exist"):
        run_to_end(broken, ["/bin/true"], wall_s=20, output_bytes=1000)


def test_a_program_that_is_not_there_says_so() -> None:
    bounded_by_cgroup = replace(SHELL, limits=Limits(processes=None))
    with pytest.raises(JailUnavailable, match="no-such-program"):
        run_to_end(bounded_by_cgroup, ["/no-such-program"], wall_s=20, output_bytes=1000)


def test_descriptors_keep_their_numbers_and_no_other_goes_in() -> None:
    read_end, write_end = os.pipe()
    try:
        code = f"import os; print(os.write({write_end}, b'through'), *os.listdir('/proc/self/fd'))"
        output = run_to_end(
            run_policy(RunLimits()),
            [sys.executable, "-I", "-S", "-c", code],
            wall_s=20,
            output_bytes=1000,
            pass_fds=[write_end],
        )
        count, *inside = (int(word) for word in output.data.split())
        assert os.read(read_end, count) == b"through"
    finally:
        os.close(read_end)
        os.close(write_end)
    # Listing a folder opens one more.
    assert len(inside) == 5
    assert {0, 1, 2, write_end} <= set(inside)


def test_who_and_where_it_is() -> None:
    absent = "ls /home /media /var /etc/passwd /sys 2>&1 | grep -c 'No such file'"
    output = shell(f"id -u; {absent}; env; cat /proc/self/status")
    text = output.data.decode()
    uid, missing = text.split()[:2]
    assert int(uid) == (65534 if os.geteuid() == 0 else os.geteuid())
    assert missing == "5"
    assert "CapEff:\t0000000000000000" in text
    assert "Seccomp:\t2" in text
    assert "GPUJUDGE" not in text


def test_python_starts_with_its_packages_wherever_they_lie() -> None:
    policy = run_policy(RunLimits(), env={"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)})
    output = python("import numpy, judge.runner, emulator; print('ready')", policy)
    assert output.data == b"ready\n", output.data


def test_the_packs_and_the_tests_are_not_inside() -> None:
    root = Path(launch_module.__file__).resolve().parents[2]
    output = python(f"import os; print(sorted(os.listdir({str(root)!r})))")
    assert set(eval(output.data)) <= {"judge", "emulator", "records", ".venv"}


def test_a_fork_bomb_stops(bounds: str) -> None:
    code = (
        "import os, time\nn = 0\ntry:\n  while n < 500:\n    if os.fork() == 0: time.sleep(30)\n    n += 1\n"
        "except OSError as error: print(n, flush=True)\nos._exit(0)"
    )
    output = python(code, replace(run_policy(RunLimits()), limits=Limits(processes=20, memory_bytes=512 * MIB)))
    assert 0 < int(output.data) < 20, bounds


def test_memory_stops(bounds: str) -> None:
    code = (
        "b = []\ntry:\n  while len(b) < 64: b.append(b'x' * (16 << 20)); print(len(b), flush=True)\n"
        "except MemoryError: print('refused')"
    )
    output = python(code, replace(run_policy(RunLimits()), limits=Limits(memory_bytes=256 * MIB)))
    assert b"\n16\n" not in output.data
    if bounds == "cgroup":
        assert output.exit.oom_killed
        assert output.exit.memory_peak_bytes is not None
        assert output.exit.memory_peak_bytes <= 256 * MIB
    else:
        assert b"refused" in output.data


def test_files_and_the_disk_stop() -> None:
    assert shell("head -c 5000000 /dev/zero >/tmp/x").exit.signal == signal.SIGXFSZ
    output = shell("for i in 1 2 3 4; do head -c 3000000 /dev/zero >/tmp/$i || echo full; done; du -sb /tmp")
    assert b"full" in output.data
    assert int(output.data.split()[-2]) <= 8 * MIB + 4096
    assert b"Read-only" in shell("echo x >/usr/x; echo x >/x; echo x >/dev/x").data


def test_cpu_time_is_told_of_the_whole_tree() -> None:
    if "cpu" in cgroup.find_hierarchy().missing():
        pytest.skip("no cgroup can be made here")
    code = (
        "import os, time\nif os.fork() == 0:\n  end = time.process_time() + 0.3\n"
        "  while time.process_time() < end: pass\n  os._exit(0)\nos.wait()"
    )
    output = python(code)
    assert output.exit.cpu_s is not None
    assert output.exit.cpu_s >= 0.3


def test_a_forged_status_is_not_believed() -> None:
    """The descriptor on which bubblewrap reports does not go in."""
    output = shell("for fd in /proc/self/fd/*; do echo '{\"exit-code\": 0}' >$fd; done 2>/dev/null; exit 5")
    assert output.exit.code == 5


def test_a_jail_lives_as_long_as_the_thread_that_launched_it() -> None:
    """The kernel ties the jail to the thread, not to the process: the launcher's users must know it."""
    jails = []

    def start() -> None:
        jail = launch(SHELL, ["/bin/sh", "-c", "echo up; sleep 60"], stdout=subprocess.PIPE)
        assert jail.stdout is not None
        assert jail.stdout.readline() == b"up\n"
        jails.append(jail)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    with jails[0] as jail:
        assert jail.wait(10)


def test_groups_are_gone_afterwards() -> None:
    parents = set(cgroup.find_hierarchy().folders.values())
    before = {folder for parent in parents for folder in parent.glob("gpujudge-*")}
    shell("sleep 0")
    after = {folder for parent in parents for folder in parent.glob("gpujudge-*")}
    # Others may judge on this machine at the same time; ours is the one that no longer has anything in it.
    assert not [folder for folder in after - before if not (folder / "cgroup.procs").read_text()]


def test_without_walls_the_limits_and_the_end_still_hold() -> None:
    bare = replace(SHELL, jail="off", cwd="/", env={"PATH": "/usr/bin:/bin", "ONLY": "this"})
    assert shell("echo $ONLY $HOME", bare).data == b"this\n"
    assert shell("exit 6", bare).exit.code == 6
    assert shell("kill -SEGV $$", bare).exit.signal == signal.SIGSEGV
    assert shell("sleep 60", bare, wall_s=0.3).timed_out
    assert shell("ulimit -c", bare).data == b"0\n"


def _having(token: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if token.encode() in path.read_bytes():
                found.append(path.parent.name)
    return found


def test_a_jail_that_is_killed_from_outside_says_so() -> None:
    with launch(build_policy(BuildLimits()), ["/bin/sleep", "30"]) as jail:
        _wait_until_inside(jail.pid)
        os.kill(jail.pid, signal.SIGKILL)
        assert jail.wait(5)
        ended = jail.end()
    assert ended.jail_lost
    assert ended.perhaps_from_outside
    assert not ended.killed


def test_a_jail_that_is_killed_while_it_is_set_up_is_not_waited_for() -> None:
    # Bubblewrap's child waits for its parent before it is bound to its life: in one of four kills here it stays.
    for _ in range(20):
        with Killer(lambda: named("bwrap")[:1], times=1, pause_s=0) as killer:
            output = shell("sleep 5", wall_s=3600)
        assert killer.killed
        assert output.exit.jail_lost
        assert not output.timed_out


def test_a_command_ends_with_its_outermost_process_whoever_holds_its_output() -> None:
    output = shell("(sleep 50 &) ; echo said; exit 3", replace(SHELL, jail="off"), wall_s=3600)
    assert (output.data, output.exit.code, output.timed_out) == (b"said\n", 3, False)


def test_a_command_that_waited_instead_of_working_is_told_apart() -> None:
    if cgroup.find_hierarchy().missing():
        pytest.skip("no cgroup tells the CPU time")
    assert shell("sleep 50", wall_s=0.5).idled
    # Longer, since the jail is set up within it.
    assert not shell("while :; do :; done", wall_s=2.0).idled
    assert not shell("exit 0").idled


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_command_that_is_killed_may_have_been_killed_from_outside(number: signal.Signals) -> None:
    ended = shell(f"kill -{number.value} $$").exit
    assert (ended.signal, ended.jail_lost, ended.perhaps_from_outside) == (number, False, True)


def test_the_jails_own_limits_and_kills_are_not_from_outside() -> None:
    assert not shell("kill -SEGV $$").exit.perhaps_from_outside
    with launch(build_policy(BuildLimits()), ["/bin/sleep", "30"]) as jail:
        jail.kill()
        assert not jail.end().perhaps_from_outside


@pytest.mark.parametrize(
    "code", ["while True: pass", "import signal; signal.signal(24, signal.SIG_IGN)\nwhile 1: pass"]
)
def test_the_limit_on_cpu_time_is_told_apart(code: str) -> None:
    if "cpu" in cgroup.find_hierarchy().missing():
        pytest.skip("no cgroup can be made here")
    ended = python(code, replace(run_policy(RunLimits()), limits=Limits(cpu_s=1.0))).exit
    assert ended.cpu_limited
    assert not ended.perhaps_from_outside


def _wait_until_inside(pid: int) -> None:
    """Returns once bubblewrap has started the process that stands for pid 1."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    while not children.read_text():
        time.sleep(0.01)
