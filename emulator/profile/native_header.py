"""Generates the C++ header that declares the counters, from the Python classes that define them."""

from __future__ import annotations

from collections.abc import Iterable

from emulator.profile.counters import CLASSES, COUNTS, FLOP_TYPES, LANE_FLOP_TYPES, LAUNCH_COUNTS

#: The header's path, as C++ includes it.
PATH = "profile/counter_table.h"


def native_header(counts: Iterable[str] = COUNTS, launch_counts: Iterable[str] = LAUNCH_COUNTS) -> str:
    """Returns the text of the header: sizes of the arrays, and lists of the fields as macros, in the classes' order."""
    lines = [
        "// Generated from emulator/profile/counters.py.",
        "#pragma once",
        "",
        f"#define EMU_CLASS_COUNT {len(CLASSES)}",
        f"#define EMU_FLOP_TYPES {len(FLOP_TYPES)}",
        f"#define EMU_LANE_FLOP_TYPES {LANE_FLOP_TYPES}",
        "",
        "// FIELD(name) for each scalar of Counters, and for each of LaunchProfile.",
        f"#define EMU_COUNTERS(FIELD) {' '.join(f'FIELD({name})' for name in counts)}",
        f"#define EMU_LAUNCH_COUNTERS(FIELD) {' '.join(f'FIELD({name})' for name in launch_counts)}",
    ]
    return "\n".join(lines) + "\n"
