"""Byte offsets in WarpContext (``emulator/native/abi.h``: change both together)."""

from __future__ import annotations

PC, MODE, FUEL, TRAP_SITE, INSTRUCTIONS = 0, 4, 8, 12, 16
REGISTERS, SHARED, LOCAL, PARAMS, SITE_CACHE, SYMBOLS = 24, 32, 40, 48, 56, 64
CTAID, NCTAID, SHARED_BYTES, DYNAMIC_SHARED, WARP_ID, GRID_ID, POLICY = 80, 92, 104, 108, 112, 120, 124
LANE_PC, TID, GRID_WORKSPACE, TALLY, STACK_BYTES = 128, 256, 776, 784, 792
