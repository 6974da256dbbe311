"""Hand-written PTX, profiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from emulator.profile import LaunchProfile
from tests.unit.emulator.jit.conftest import Machine, machine, session_machine

__all__ = ["machine", "session_machine"]

# %a is the address of the thread's own word of `data`, %s that of its word of shared memory.
FRAME = """
.version 9.0
.target sm_80
.address_size 64
.file 1 "kernel.cu"
.const .align 4 .b8 table[128];
.visible .entry kernel(.param .u64 data)
{{
  .reg .pred %p<4>;
  .reg .b16 %h<4>;
  .reg .b32 %r<32>, %t, %s, %w;
  .reg .f32 %f<16>;
  .reg .b64 %rd<8>, %a, %data;
  .reg .f64 %d<4>;
  .shared .align 16 .b8 tile[16384];
  .loc 1 1 0
  ld.param.u64 %data, [data];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %a, %t, 4, %data;
  mov.u32 %w, tile;
  mad.lo.u32 %s, %t, 4, %w;
  {body}
  .loc 1 99 0
  ret;
}}
"""
FRAME_INSTRUCTIONS = 6

Profiled = Callable[..., LaunchProfile]


@pytest.fixture
def profiled(machine: Machine) -> Iterator[Profiled]:
    """The profile of one launch of ``body``, by 32 threads unless told otherwise."""

    def run(body: str, data: Any, *, grid: Any = 1, block: Any = 32, shared: int = 0) -> LaunchProfile:
        machine.runtime.take_report()
        machine.run(FRAME.format(body=body), "kernel", grid, block, data, shared=shared)
        (launch,) = machine.runtime.take_report().launches
        assert launch.profile is not None
        assert launch.profile.totals.total_warp_instructions == launch.warp_instructions
        return launch.profile

    machine.runtime.observe(profile=True)
    yield run
    machine.runtime.observe(profile=False)
