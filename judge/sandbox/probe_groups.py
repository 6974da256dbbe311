"""The groups of probes: each tests one protection, or several that one attempt shows."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import judge
from judge.probe import Probe
from judge.sandbox import remedies
from judge.sandbox.bind import Bind
from judge.sandbox.cgroup_hierarchy import find_hierarchy
from judge.sandbox.gpu import visible_minors
from judge.sandbox.launch import Output, launch, run_to_end
from judge.sandbox.policy import MIB, Limits, Policy, run_policy
from judge.sandbox.real_time import real_time_thread
from judge.settings import RunLimits

_PROCESSES = 24
_MEMORY_BYTES = 192 * MIB
_TMPFS_BYTES = 8 * MIB
_ETC = Path("/etc")
_INSIDE = Bind(Path(__file__).with_name("probe_inside.py"), "/tmp/probe_inside.py")  # noqa: S108 (the jail's own)
_HOME = Path(judge.__file__).resolve().parent.parent


def cgroups() -> Probe:
    """Tests which controllers of cgroups the judge may use; the jail holds without them."""
    hierarchy = find_hierarchy()
    missing = hierarchy.missing()
    have = ", ".join(name for name in hierarchy.folders)
    if not missing:
        return Probe("cgroups", True, f"v{hierarchy.version}: {have}")
    lost = {
        "memory": "memory is bounded per process, not per jail",
        "pids": "processes are bounded by RLIMIT_NPROC",
        "cpu": "CPU time is not reported",
    }
    detail = f"v{hierarchy.version} without {', '.join(missing)}: " + "; ".join(lost[name] for name in missing)
    return Probe("cgroups", False, detail, remedies.for_cgroups(), required=False)


def surroundings() -> Iterator[Probe]:
    """Reports the surroundings of a process inside: identity, files, environment, quotas, processes."""
    report = _inside("surroundings")
    identity = report["uid"] != 0 and report["capabilities"] == 0 and report["no_new_privs"]
    detail = f"uid {report['uid']}, capabilities {report['capabilities']:#x}, no_new_privs {report['no_new_privs']}"
    yield Probe("identity", identity, detail)
    seen = report["readable"]
    yield Probe(
        "files",
        not seen,
        f"readable inside: {', '.join(seen)}" if seen else "no /etc/passwd, home, /var, /run or /sys inside",
    )
    more = sorted(
        set(report["etc"]) - {bind.source.name for bind in probe_policy().binds if bind.source.parent == _ETC}
    )
    yield Probe("empty /etc", not more, f"also holds {', '.join(more)}" if more else "only what the loader needs")
    written = report["writable"]
    yield Probe(
        "read-only root",
        not written,
        f"writable inside: {', '.join(written)}" if written else "only /tmp and /dev/shm can be written",
    )
    extra = sorted(set(report["environment"]) - set(probe_policy().env) - {"PWD", "LC_CTYPE"})
    yield Probe("environment", not extra, f"leaks {', '.join(extra)}" if extra else "nothing of the judge's own")
    stopped = report["tmp_bytes"] <= _TMPFS_BYTES
    yield Probe("tmpfs quota", stopped, f"writing to /tmp stopped after {report['tmp_bytes'] >> 20} MiB")
    yield Probe("process view", report["processes"] <= 3, f"{report['processes']} processes can be seen inside")


def network() -> Iterator[Probe]:
    """Tests the network namespace alone, without the system call filter, which would refuse the socket first."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        report = _inside("network", str(port), policy=dataclasses.replace(probe_policy(), seccomp="none"))
    reached = report["reached"] + [name for name in report["interfaces"] if name != "lo"]
    yield Probe(
        "network",
        not reached,
        f"reached: {', '.join(reached)}"
        if reached
        else "nothing can be reached, not even this machine; there is only a loopback of the jail's own",
    )


def system_calls() -> Iterator[Probe]:
    """Tests that the filter stops each call of ``_EXPECTED_CALLS`` as it should."""
    report = _inside("system_calls")
    for name, want in _EXPECTED_CALLS.items():
        got = report[name]
        yield Probe(f"seccomp: {name}", got == want, f"{got}" if got == want else f"{got} instead of {want}")


#: What ``probe_inside`` reports of each attempt: the signal that killed its process, or the error it got.
_EXPECTED_CALLS = {
    "ptrace": "SIGSYS",
    "process_vm_readv": "SIGSYS",
    "unshare": "SIGSYS",
    "setns": "SIGSYS",
    "mount": "SIGSYS",
    "io_uring": "SIGSYS",
    "bpf": "SIGSYS",
    "keyctl": "SIGSYS",
    "userfaultfd": "SIGSYS",
    "new namespace by clone": "SIGSYS",
    "internet socket": "EAFNOSUPPORT",
    "fork once locked": "SIGSYS",
    "exec once locked": "SIGSYS",
    "socket once locked": "SIGSYS",
    "kill of others once locked": "SIGSYS",
    "own memory file once locked": "EACCES",
    "thread once locked": "EPERM",
    "anonymous code once locked": "EPERM",
    "file in memory once locked": "EPERM",
    "other processor once settled": "EPERM",
    "priority once settled": "EPERM",
    "timer slack once settled": "EPERM",
    "code from a file once loaded": "EPERM",
}


def files() -> Iterator[Probe]:
    """Tests Landlock, an additional protection where the kernel has it."""
    report = _inside("files_once_restricted")
    if report is None:
        remedy = (
            "boot with landlock in the kernel's lsm= parameter (Linux 5.13 or newer); "
            "the other protections hold without it"
        )
        yield Probe("landlock", False, "this kernel has none", remedy, required=False)
        return
    held = not report["after"] and report["library"] and bool(report["before"])
    detail = "once locked, no file can be written and /proc cannot be opened"
    yield Probe("landlock", held, detail if held else f"can still be opened: {report['after']}", required=False)


def outside() -> Iterator[Probe]:
    """Tests which user the jail runs as outside."""
    with launch(probe_policy(), _inside_command("burn")) as jail:
        owner = Path(f"/proc/{jail.pid}").stat().st_uid
        deadline = time.monotonic() + 5
        while owner == 0 and time.monotonic() < deadline:  # it drops root on its way into the jail
            time.sleep(0.01)
            owner = Path(f"/proc/{jail.pid}").stat().st_uid
    yield Probe("user", owner != 0, f"outside, a jail is user {owner}'s")


def limits_of_time() -> Iterator[Probe]:
    """Tests both limits of an endless program: wall time by the supervisor, CPU time by the kernel."""
    started_s = time.monotonic()
    output = run_to_end(probe_policy(), _inside_command("burn"), wall_s=0.5, output_bytes=0)
    wall_s = time.monotonic() - started_s
    yield Probe("wall clock", output.timed_out and wall_s < 5, f"an endless program was ended after {wall_s:.1f} s")
    policy = probe_policy()
    bounded = dataclasses.replace(policy, limits=dataclasses.replace(policy.limits, cpu_s=1.0))
    output = run_to_end(bounded, _inside_command("burn"), wall_s=20, output_bytes=0)
    held = not output.timed_out and output.exit.signal in (signal.SIGXCPU, signal.SIGKILL)
    yield Probe("CPU time limit", held, f"one second of CPU time ended it: {output.exit.signal}")


def processes() -> Iterator[Probe]:
    """Tests that a fork bomb stops at the limit."""
    output = _run("fork_bomb", probe_policy(processes=_PROCESSES))
    made = int(output.data.split()[0]) if output.data.split() else -1
    yield Probe("process limit", 0 < made <= _PROCESSES, f"a fork bomb stopped at {made} of {_PROCESSES}")


def memory() -> Iterator[Probe]:
    """Tests that a program which fills memory is killed, or refused, at the limit."""
    output = _run("fill_memory", probe_policy(memory_bytes=_MEMORY_BYTES))
    reached = max((int(line) for line in output.data.split() if line.isdigit()), default=0)
    held = output.exit.oom_killed or output.exit.signal == signal.SIGKILL or b"MemoryError" in output.data
    how = "killed" if output.exit.oom_killed else "refused"
    yield Probe(
        "memory limit",
        held and reached <= _MEMORY_BYTES,
        f"filling memory was {how} after {reached >> 20} of {_MEMORY_BYTES >> 20} MiB",
    )


def tree() -> Iterator[Probe]:
    """Tests that a daemon, without its session and parent, dies with the jail."""
    token = f"gpujudge-probe-{secrets.token_hex(8)}"
    command = _inside_command("leave_behind", token)
    with launch(probe_policy(), command, stdout=subprocess.PIPE) as jail:
        assert jail.stdout is not None
        ready = jail.stdout.readline().strip() == b"ready"
        jail.kill()
        deadline = time.monotonic() + 5
        while (alive := _processes_with(token)) and time.monotonic() < deadline:
            time.sleep(0.01)
    detail = "a daemon inside ended with its jail" if ready else "the probe did not start"
    yield Probe("whole tree dies", ready and not alive, f"still running: {alive}" if alive else detail)


def gpu() -> Iterator[Probe]:
    """Tests that builds see no GPU, and that CUDA starts in runs; yields nothing without a GPU."""
    minors = visible_minors()
    if not minors:
        return
    without_gpu = _run("gpu_nodes", probe_policy())
    hidden = without_gpu.data.strip() == b"[]"
    yield Probe("no GPU in builds", hidden, "a jail without a GPU has no device node of one")
    with_gpu = run_policy(RunLimits(), binds=[_INSIDE], gpus=minors)
    output = run_to_end(with_gpu, _inside_command("start_cuda"), wall_s=30, output_bytes=4000)
    said = output.data.decode("utf-8", "replace").strip()
    yield Probe(
        "GPU in runs",
        said.startswith("0 "),
        f"cuInit and device count inside: {said}",
        "nvidia-smi; ls -l /dev/nvidia*",
        required=False,
    )


def real_time() -> Iterator[Probe]:
    """Tests whether what is timed may go before other work, where there is a GPU to time anything on."""
    if not visible_minors():
        return
    policy = probe_policy()
    policy = dataclasses.replace(policy, limits=dataclasses.replace(policy.limits, real_time=True))
    processor = min(os.sched_getaffinity(0))
    with launch(policy, _inside_command("burn")) as jail, real_time_thread(away_from={processor}) as permitted:
        permitted = jail.schedule_in_real_time() and permitted
    detail = (
        "other work takes no processor from what is timed" if permitted else "a busy machine disturbs what is timed"
    )
    yield Probe("real-time scheduling", permitted, detail, remedies.for_real_time(), required=False)


def probe_policy(*, processes: int = 64, memory_bytes: int = 512 * MIB) -> Policy:
    """Returns the policy of a runner's jail, with the limits of the probe."""
    policy = run_policy(RunLimits(), binds=[_INSIDE], env={"PYTHONPATH": str(_HOME)})
    limits = Limits(memory_bytes=memory_bytes, processes=processes, file_bytes=64 * MIB, tmpfs_bytes=_TMPFS_BYTES)
    return dataclasses.replace(policy, limits=limits)


def _run(what: str, policy: Policy, *arguments: str) -> Output:
    return run_to_end(policy, _inside_command(what, *arguments), wall_s=20, output_bytes=1 << 20)


def _inside_command(what: str, *arguments: str) -> list[str]:
    return [sys.executable, "-P", "-S", "-s", _INSIDE.target, what, *arguments]


def _inside(what: str, *arguments: str, policy: Policy | None = None) -> Any:
    output = _run(what, policy or probe_policy(), *arguments)
    try:
        report = json.loads(output.data)
    except ValueError:
        said = output.data.decode("utf-8", "replace").strip()
        raise ValueError(f"no report from inside: {said[-500:] or output.exit}") from None
    return report


def _processes_with(token: str) -> list[int]:
    """Returns the processes of this machine with this word on their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if token.encode() in path.read_bytes():
                found.append(int(path.parent.name))
    return found
