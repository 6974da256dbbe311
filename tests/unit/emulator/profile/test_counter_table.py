"""The Python classes are the only list of a profile's counters: C++ and the ctypes mirrors follow from them."""

from __future__ import annotations

import ctypes
import re
from dataclasses import fields
from pathlib import Path

from emulator.jit.abi import EmuContent
from emulator.profile.counters import (
    CLASSES,
    COUNTS,
    FLOP_TYPES,
    KERNEL_PROPERTIES,
    LANE_FLOP_TYPES,
    LAUNCH_COUNTS,
    Counters,
    LaunchProfile,
)
from emulator.profile.native_header import native_header
from emulator.runtime.library import NativeCounters, NativeLaunchCounters

EMULATOR = Path(__file__).resolve().parents[4] / "emulator"


def test_every_field_of_the_classes_is_a_count_or_a_known_structure() -> None:
    assert {field.name for field in fields(Counters)} - set(COUNTS) == {"warp_instructions", "flops"}
    structures = {"totals", "busiest_block", "busiest_warp", "lines"}
    assert {field.name for field in fields(LaunchProfile)} - set(LAUNCH_COUNTS) == structures
    assert set(KERNEL_PROPERTIES) < set(LAUNCH_COUNTS)


def test_the_header_and_the_ctypes_mirrors_have_the_fields_in_one_order() -> None:
    macros = dict(re.findall(r"^#define (\w+)\(FIELD\) (.*)$", native_header(), re.MULTILINE))
    sizes = dict(re.findall(r"^#define (\w+) (\d+)$", native_header(), re.MULTILINE))

    counters = re.findall(r"FIELD\((\w+)\)", macros["EMU_COUNTERS"])
    launch = re.findall(r"FIELD\((\w+)\)", macros["EMU_LAUNCH_COUNTERS"])
    assert ["warp_instructions", *counters, "flops"] == [name for name, _ in NativeCounters._fields_]
    assert launch == [name for name, _ in NativeLaunchCounters._fields_]
    assert {name: int(size) for name, size in sizes.items()} == {
        "EMU_CLASS_COUNT": len(CLASSES),
        "EMU_FLOP_TYPES": len(FLOP_TYPES),
        "EMU_LANE_FLOP_TYPES": LANE_FLOP_TYPES,
    }
    assert EmuContent.instructions.size == ctypes.sizeof(ctypes.c_uint32) * len(CLASSES)


def test_a_counter_that_is_added_to_the_classes_is_in_the_header() -> None:
    assert "FIELD(branches)" in native_header((*COUNTS, "branches"))
    assert "FIELD(clusters)" in native_header(launch_counts=(*LAUNCH_COUNTS, "clusters"))


def test_no_other_file_lists_the_counters() -> None:
    """A counter is named where it is counted and where it is used, not in a structure or a conversion."""
    followers = (
        *("native/host.h", "native/abi.h", "native/profile/counters.h"),
        *("runtime/library.py", "runtime/profiles.py", "model/merging.py"),
    )
    for follower in followers:
        code = re.sub(r"//.*", "", (EMULATOR / follower).read_text())
        words = set(re.findall(r"\w+", code))
        # These have a meaning of their own there: the register count's "not known", and a kernel's sizes.
        listed = words & {*COUNTS, *LAUNCH_COUNTS} - {*KERNEL_PROPERTIES, "dependent_steps", "dependent_loads"}
        assert not listed, follower
