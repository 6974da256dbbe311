"""Tests each protection of the jail on this machine, in a jail like a submission's.

``gpujudge doctor`` shows ``probes()``: one that is ``required`` and not ``ok`` means that submissions must not run
here. Every worker calls ``require_walls`` before it takes one. Each ``remedy`` is a command to type.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator

from judge.errors import JailUnavailable
from judge.probe import Probe
from judge.sandbox import remedies
from judge.sandbox.bwrap import find_bwrap
from judge.sandbox.launch import run_to_end
from judge.sandbox.probe_groups import (
    cgroups,
    files,
    gpu,
    limits_of_time,
    memory,
    network,
    outside,
    probe_policy,
    processes,
    real_time,
    surroundings,
    system_calls,
    tree,
)

_OLDEST_BWRAP = (0, 8)


def probes() -> list[Probe]:
    """Runs all probes, which takes some seconds; only the first two if no jail can start."""
    found = walls()
    if not _can_jail(found):
        return found
    found.append(cgroups())
    for group in (files, processes, memory, limits_of_time, gpu, real_time):
        found += _attempt(group)
    return found


def walls() -> list[Probe]:
    """Runs the probes that keep a submission in, without those of its limits; about a second."""
    found = [_bubblewrap()]
    if found[0].ok:
        found.append(_jail())
    if _can_jail(found):
        for group in (surroundings, outside, network, system_calls, tree):
            found += _attempt(group)
    return found


def require_walls(jail: str) -> None:
    """Raises JailUnavailable, with the first protection that does not hold, unless the jail is ``off``."""
    if jail == "off":
        return
    for probe in walls():
        if probe.required and not probe.ok:
            raise JailUnavailable(f"no submission can be run here: {probe.name}: {probe.detail}", probe.remedy)


def _can_jail(found: list[Probe]) -> bool:
    return len(found) > 1 and all(probe.ok for probe in found[:2])


def _attempt(group: Callable[[], Iterable[Probe]]) -> Iterator[Probe]:
    """Runs a group of probes; one that raises counts as a protection that does not hold."""
    try:
        yield from group()
    except (JailUnavailable, OSError, ValueError, KeyError) as error:
        yield Probe(group.__name__.replace("_", " "), False, f"could not be tested: {error}")


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
    policy = probe_policy()
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
