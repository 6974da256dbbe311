"""Says why there is no profile, by what Nsight Compute printed, and what to do about it."""

from __future__ import annotations

import re

from judge.gpu.nsight.tool import DENIED, INSTALL, PERMIT, NoProfile

_SAID = re.compile(r"==ERROR==\s*(.+)")
#: What the tool says, what that means, and what to do.
_KNOWN = (
    (DENIED, "this user may not read the GPU's performance counters", PERMIT),
    (
        "LibraryNotLoaded",
        "Nsight Compute cannot read performance counters on this machine: its kernel or its virtual machine has no way",
        "profile on a machine whose driver runs in an ordinary Linux kernel: sandboxes such as gVisor have no counters",
    ),
    (
        "driver resource was unavailable",
        "another profiler uses the GPU's performance counters",
        "end it, such as DCGM's: dcgmi profile --pause",
    ),
    ("Cuda driver is not compatible", "this Nsight Compute does not know the installed driver", INSTALL),
    ("not supported on the target", "this Nsight Compute does not know this GPU", INSTALL),
    ("the profiler does not start", "Nsight Compute does not start inside the jail", INSTALL),
)


def why_no_profile(log: str, trouble: str = "") -> NoProfile:
    """Returns the reason, by the tool's ``log``, and by what went wrong with the call, in words."""
    for words, meaning, remedy in _KNOWN:
        if words in log:
            return NoProfile(meaning, remedy)
    said = [_plain(found) for found in _SAID.findall(log)]
    if trouble:
        return NoProfile(trouble if not said else f"{trouble} (Nsight Compute: {said[0]})")
    if "No kernels were profiled" in log or not said:
        return NoProfile("the call launched no kernel that could be profiled")
    return NoProfile(f"Nsight Compute: {said[0]}")


def _plain(text: str) -> str:
    return "".join(each for each in text.strip() if each.isprintable())[:300]
