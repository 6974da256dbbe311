"""Tries each protection of the jail for real, on this machine, as it would be for a submission.

``probes()`` is what ``gpujudge doctor`` shows: one that is ``required`` and not ``ok`` means that submissions must not
be run here. ``require_walls`` is what every worker asks before it takes one. Each ``remedy`` is a command to type.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.errors import JailUnavailable
from judge.sandbox import remedies
from judge.sandbox.bwrap import find_bwrap
from judge.sandbox.cgroup import find_hierarchy
from judge.sandbox.gpu import visible_minors
from judge.sandbox.launch import Output, launch, run_to_end
from judge.sandbox.policy import MIB, Limits, Policy, run_policy
from judge.settings import RunLimits

_OLDEST_BWRAP = (0, 8)
_PROCESSES = 24
_MEMORY_BYTES = 192 * MIB
_TMPFS_BYTES = 8 * MIB
_ETC = Path("/etc")
_INSIDE = Path(__file__).with_name("probe_inside.py")


@dataclass(frozen=True, slots=True)
class Probe:
    """One protection, and whether it holds here. Those not ``required`` only weaken a limit or report less."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""
    required: bool = True


def probes() -> list[Probe]:
    """All of them; some seconds. When no jail can be had at all, only what says so."""
    found = walls()
    if not _can_jail(found):
        return found
    found.append(_cgroups())
    for group in (_files, _processes, _memory, _clocks, _gpu):
        found += _attempt(group)
    return found


def walls() -> list[Probe]:
    """Those that keep a submission in; a second. Its limits are not among them."""
    found = [_bubblewrap()]
    if found[0].ok:
        found.append(_jail())
    if _can_jail(found):
        for group in (_surroundings, _outside, _network, _system_calls, _tree):
            found += _attempt(group)
    return found


def require_walls(jail: str) -> None:
    """For whoever is about to run other people's code. Raises JailUnavailable with what does not hold."""
    if jail == "off":
        return
    for probe in walls():
        if probe.required and not probe.ok:
            raise JailUnavailable(f"no submission can be run here: {probe.name}: {probe.detail}", probe.remedy)


def _can_jail(found: list[Probe]) -> bool:
    return len(found) > 1 and all(probe.ok for probe in found[:2])


def _attempt(group: Any) -> Iterator[Probe]:
    """A probe that breaks down is a protection that was not seen to hold."""
    try:
        yield from group()
    except (JailUnavailable, OSError, ValueError, KeyError) as error:
        yield Probe(group.__name__.strip("_").replace("_", " "), False, f"could not be tried: {error}")


def _bubblewrap() -> Probe:
    try:
        path = find_bwrap()
    except JailUnavailable as error:
        return Probe("bubblewrap", False, error.message, error.remedy)
    text = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    match = re.search(r"(\d+)\.(\d+)", text)
    if match is None or (int(match[1]), int(match[2])) < _OLDEST_BWRAP:
        return Probe(
            "bubblewrap",
            False,
            f"{text or 'unknown version'} in {path}; 0.8 or newer is needed",
            "upgrade to Debian 12, Ubuntu 24.04 or newer, or build bubblewrap from its sources",
        )
    return Probe("bubblewrap", True, f"{text} in {path}")


def _jail() -> Probe:
    policy = _policy()
    try:
        started_s = time.monotonic()
        output = run_to_end(policy, [sys.executable, "-I", "-S", "-c", "pass"], wall_s=20, output_bytes=4000)
        wall_ms = 1e3 * (time.monotonic() - started_s)
    except JailUnavailable as error:
        return Probe("jail", False, error.message, remedies.for_failure(error.message))
    if output.exit.ok:
        return Probe("jail", True, f"a jail with Python starts and ends in {wall_ms:.0f} ms")
    said = output.data.decode("utf-8", "replace").strip()
    return Probe("jail", False, f"Python does not start inside: {said}", remedies.for_failure(said))


def _cgroups() -> Probe:
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


def _surroundings() -> Iterator[Probe]:
    """What one look around inside says: identity, files, environment, network, quotas."""
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
    more = sorted(set(report["etc"]) - {bind.source.name for bind in _policy().binds if bind.source.parent == _ETC})
    yield Probe("empty /etc", not more, f"also holds {', '.join(more)}" if more else "only what the loader needs")
    written = report["writable"]
    yield Probe(
        "read-only root",
        not written,
        f"writable inside: {', '.join(written)}" if written else "only /tmp and /dev/shm can be written",
    )
    extra = sorted(set(report["environment"]) - set(_policy().env) - {"PWD", "LC_CTYPE"})
    yield Probe("environment", not extra, f"leaks {', '.join(extra)}" if extra else "nothing of the judge's own")
    stopped = report["tmp_bytes"] <= _TMPFS_BYTES
    yield Probe("tmpfs quota", stopped, f"writing to /tmp stopped after {report['tmp_bytes'] >> 20} MiB")
    yield Probe("process view", report["processes"] <= 3, f"{report['processes']} processes can be seen inside")


def _network() -> Iterator[Probe]:
    """Without the filter, which would refuse the socket already: the namespace must hold alone."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        report = _inside("network", str(port), policy=dataclasses.replace(_policy(), seccomp="none"))
    reached = report["reached"] + [name for name in report["interfaces"] if name != "lo"]
    yield Probe(
        "network",
        not reached,
        f"reached: {', '.join(reached)}"
        if reached
        else "nothing can be reached, not even this machine; there is only a loopback of the jail's own",
    )


def _system_calls() -> Iterator[Probe]:
    report = _inside("system_calls")
    for name, want in _EXPECTED_CALLS.items():
        got = report[name]
        yield Probe(f"seccomp: {name}", got == want, f"{got}" if got == want else f"{got} instead of {want}")


#: What ``probe_inside`` reports of each attempt: how the process that made it ended, or the error it got.
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


def _files() -> Iterator[Probe]:
    """Landlock: an additional wall, where the kernel has it."""
    report = _inside("files_once_restricted")
    if report is None:
        remedy = (
            "boot with landlock in the kernel's lsm= parameter (Linux 5.13 or newer); the other walls hold without it"
        )
        yield Probe("landlock", False, "this kernel has none", remedy, required=False)
        return
    held = not report["after"] and report["library"] and bool(report["before"])
    detail = "once locked nothing can be written, and /proc not be opened"
    yield Probe("landlock", held, detail if held else f"still to be opened: {report['after']}", required=False)


def _outside() -> Iterator[Probe]:
    """Whom the jail runs as, as this machine sees it."""
    with launch(_policy(), [sys.executable, "-I", "-S", str(_INSIDE), "burn"]) as jail:
        owner = Path(f"/proc/{jail.pid}").stat().st_uid
        deadline = time.monotonic() + 5
        while owner == 0 and time.monotonic() < deadline:  # it drops root on its way into the jail
            time.sleep(0.01)
            owner = Path(f"/proc/{jail.pid}").stat().st_uid
    yield Probe("user", owner != 0, f"outside, a jail is user {owner}'s")


def _clocks() -> Iterator[Probe]:
    """Both ends of a program that only burns time: the supervisor's clock, and the kernel's count of its CPU time."""
    started_s = time.monotonic()
    output = run_to_end(_policy(), [sys.executable, "-I", "-S", str(_INSIDE), "burn"], wall_s=0.5, output_bytes=0)
    wall_s = time.monotonic() - started_s
    yield Probe("wall clock", output.timed_out and wall_s < 5, f"an endless program was ended after {wall_s:.1f} s")
    policy = _policy()
    bounded = dataclasses.replace(policy, limits=dataclasses.replace(policy.limits, cpu_s=1.0))
    output = run_to_end(bounded, [sys.executable, "-I", "-S", str(_INSIDE), "burn"], wall_s=20, output_bytes=0)
    held = not output.timed_out and output.exit.signal in (signal.SIGXCPU, signal.SIGKILL)
    yield Probe("CPU time limit", held, f"one second of CPU time ended it: {output.exit.signal}")


def _processes() -> Iterator[Probe]:
    output = _run("fork_bomb", _policy(processes=_PROCESSES))
    made = int(output.data.split()[0]) if output.data.split() else -1
    yield Probe("process limit", 0 < made <= _PROCESSES, f"a fork bomb stopped at {made} of {_PROCESSES}")


def _memory() -> Iterator[Probe]:
    output = _run("fill_memory", _policy(memory_bytes=_MEMORY_BYTES))
    reached = max((int(line) for line in output.data.split() if line.isdigit()), default=0)
    held = output.exit.oom_killed or output.exit.signal == signal.SIGKILL or b"MemoryError" in output.data
    how = "killed" if output.exit.oom_killed else "refused"
    yield Probe(
        "memory limit",
        held and reached <= _MEMORY_BYTES,
        f"filling memory was {how} after {reached >> 20} of {_MEMORY_BYTES >> 20} MiB",
    )


def _tree() -> Iterator[Probe]:
    """A process that left its session and its parent must die with the jail."""
    token = f"gpujudge-probe-{secrets.token_hex(8)}"
    command = [sys.executable, "-I", "-S", str(_INSIDE), "leave_behind", token]
    with launch(_policy(), command, stdout=subprocess.PIPE) as jail:
        assert jail.stdout is not None
        ready = jail.stdout.readline().strip() == b"ready"
        jail.kill()
        deadline = time.monotonic() + 5
        while (alive := _having(token)) and time.monotonic() < deadline:
            time.sleep(0.01)
    detail = "a daemon inside ended with its jail" if ready else "the probe did not start"
    yield Probe("whole tree dies", ready and not alive, f"still running: {alive}" if alive else detail)


def _gpu() -> Iterator[Probe]:
    minors = visible_minors()
    if not minors:
        return
    blind = _run("gpu_nodes", _policy())
    yield Probe("no GPU in builds", blind.data.strip() == b"[]", "a jail without a GPU sees no device node of one")
    sighted = run_policy(RunLimits(), gpus=minors)
    output = run_to_end(sighted, [sys.executable, "-I", "-S", str(_INSIDE), "start_cuda"], wall_s=30, output_bytes=4000)
    said = output.data.decode("utf-8", "replace").strip()
    yield Probe(
        "GPU in runs",
        said.startswith("0 "),
        f"cuInit and device count inside: {said}",
        "nvidia-smi; ls -l /dev/nvidia*",
        required=False,
    )


def _policy(*, processes: int = 64, memory_bytes: int = 512 * MIB) -> Policy:
    policy = run_policy(RunLimits())
    limits = Limits(memory_bytes=memory_bytes, processes=processes, file_bytes=64 * MIB, tmpfs_bytes=_TMPFS_BYTES)
    return dataclasses.replace(policy, limits=limits)


def _run(what: str, policy: Policy, *arguments: str) -> Output:
    command = [sys.executable, "-I", "-S", str(_INSIDE), what, *arguments]
    return run_to_end(policy, command, wall_s=20, output_bytes=1 << 20)


def _inside(what: str, *arguments: str, policy: Policy | None = None) -> Any:
    output = _run(what, policy or _policy(), *arguments)
    try:
        report = json.loads(output.data)
    except ValueError:
        said = output.data.decode("utf-8", "replace").strip()
        raise ValueError(f"no report from inside: {said[-500:] or output.exit}") from None
    return report


def _having(token: str) -> list[int]:
    """The processes of this machine with this word on their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if token.encode() in path.read_bytes():
                found.append(int(path.parent.name))
    return found
