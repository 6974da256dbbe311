"""Why there is no profile, and what to do about it."""

from __future__ import annotations

import pytest

from judge.gpu.nsight.problems import why_no_profile

DENIED = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters"


@pytest.mark.parametrize(
    ("log", "trouble", "message", "remedy"),
    [
        (DENIED, "", "may not read", "NVreg_RestrictProfilingToAdminUsers=0"),
        ("==ERROR== Failed to initialize the profiler: LibraryNotLoaded", "", "on this machine", "gVisor"),
        ("==WARNING== No kernels were profiled.", "", "launched no kernel", ""),
        ("", "", "launched no kernel", ""),
        ("==ERROR== An odd thing\x1b[2J", "", "Nsight Compute: An odd thing[2J", ""),
        ("==ERROR== An odd thing", "it ended", "it ended (Nsight Compute: An odd thing)", ""),
        ("", "an illegal memory access", "an illegal memory access", ""),
    ],
)
def test_the_message_says_what_to_do(log: str, trouble: str, message: str, remedy: str) -> None:
    found = why_no_profile(log, trouble)
    assert message in found.message
    assert remedy in found.remedy
