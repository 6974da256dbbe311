import dataclasses
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.profile import Counters, LaunchProfile
from emulator.profile import counters as emulators
from judge.wire import profiles
from judge.wire.frames import MAX_PAYLOAD, FrameError, Reader, Writer
from judge.wire.messages import FetchReply, ReportClaim
from judge.wire.profiles import LineClaim, ProfileClaim, pack_profiles, unpack_profiles

COUNTERS = tuple(range(profiles.COUNTERS))
LINE = LineClaim("kernel.cu", 14, COUNTERS)
CLAIM = ProfileClaim(
    "add",
    (3, 2, 1),
    (32, 4, 1),
    2,
    COUNTERS,
    tuple(range(1, len(profiles.KERNEL_COUNTS) + 1)),
    (LINE, LINE),
    COUNTERS[::-1],
    COUNTERS[1:] + COUNTERS[:1],
)


def packed(*claims: ProfileClaim) -> bytes:
    out = Writer()
    pack_profiles(out, claims)
    return out.payload()


def test_the_names_are_the_emulators() -> None:
    assert emulators.CLASSES == profiles.CLASSES
    assert emulators.FLOP_TYPES == profiles.FLOPS
    assert emulators.COUNTS == profiles.COUNTS
    assert sorted(emulators.LAUNCH_COUNTS) == sorted(profiles.KERNEL_COUNTS)
    names = {field.name for field in dataclasses.fields(Counters)}
    assert set(profiles.COUNTS) == names - {"warp_instructions", "flops"}
    names = {field.name for field in dataclasses.fields(LaunchProfile)}
    assert set(profiles.KERNEL_COUNTS) == names - {"totals", "busiest_block", "busiest_warp", "lines"}


def test_a_profile_comes_back_as_it_was_sent() -> None:
    assert unpack_profiles(Reader(packed(CLAIM, CLAIM))) == (CLAIM, CLAIM)


def test_the_largest_report_fits_a_frame() -> None:
    line = LineClaim("é" * 5000, 1, COUNTERS)
    claim = dataclasses.replace(CLAIM, kernel="k" * 5000, lines=(line,) * 20)
    payload = FetchReply((0,), ReportClaim(profiles=(claim,) * 40)).pack()
    assert len(payload) < MAX_PAYLOAD / 2
    found = FetchReply.unpack(payload).report
    assert found is not None
    assert (len(found.profiles), len(found.profiles[0].lines)) == (profiles.MAX_PROFILES, profiles.MAX_LINES)
    assert found.profiles[0].lines[0].file == "é" * 128


@pytest.mark.parametrize(
    "forged",
    [
        dataclasses.replace(CLAIM, grid=(0, 1, 1)),
        dataclasses.replace(CLAIM, grid=(1 << 31, 1, 1)),
        dataclasses.replace(CLAIM, block=(1024, 2, 1)),
        dataclasses.replace(CLAIM, block=(0, 1, 1)),
        dataclasses.replace(CLAIM, launches=0),
    ],
)
def test_launches_that_cannot_be_are_refused(forged: ProfileClaim) -> None:
    with pytest.raises(FrameError):
        unpack_profiles(Reader(packed(forged)))


def test_a_count_beyond_all_bounds_is_refused() -> None:
    payload = bytearray(packed(CLAIM))
    payload[-8:] = b"\xff" * 8
    with pytest.raises(FrameError, match="count"):
        unpack_profiles(Reader(bytes(payload)))


def test_too_many_are_refused() -> None:
    with pytest.raises(FrameError):
        unpack_profiles(Reader(Writer().u32(profiles.MAX_PROFILES + 1).payload()))


@given(st.binary(max_size=600))
def test_any_bytes_are_profiles_or_a_frame_error(payload: bytes) -> None:
    try:
        found = unpack_profiles(Reader(payload))
    except FrameError:
        return
    assert len(found) <= profiles.MAX_PROFILES


def test_it_imports_no_emulator() -> None:
    code = "import sys, judge.wire.messages; sys.exit('emulator' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
