"""Empties a GPU's L2 by reading through a buffer that is larger, with a kernel of ours.

Reading rather than writing: lines that a memset leaves behind are dirty, and writing them back would be on the clock of
the call that follows (4 % of a 600 MB kernel on an H200). And a launch just before the call has warmed the path through
the driver, which after 0.3 s of other work costs some 70 µs more.
"""

from __future__ import annotations

import pycuda.driver as cuda

#: The buffer is this many times the L2.
_TIMES_L2 = 4
_MIN_BYTES = 64 << 20
_THREADS = 512
#: Launches per flush: the first few after a pause are slower, on the host's side.
_LAUNCHES = 4

#: Every thread reads 16 bytes a step, and would store if the (all-zero) buffer held something: so nothing is
#: optimised away.
_PTX = b"""
.version 6.0
.target sm_50
.address_size 64
.visible .entry sweep(.param .u64 buffer, .param .u32 pieces)
{
  .reg .pred %p<3>;
  .reg .b32 %r<14>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [buffer];
  ld.param.u32 %r1, [pieces];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  mov.u32 %r6, %nctaid.x;
  mul.lo.u32 %r7, %r6, %r3;
  mov.u32 %r8, 0;
NEXT:
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra DONE;
  mul.wide.u32 %rd2, %r5, 16;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.v4.u32 {%r9, %r10, %r11, %r12}, [%rd3];
  or.b32 %r8, %r8, %r9;
  or.b32 %r8, %r8, %r10;
  or.b32 %r8, %r8, %r11;
  or.b32 %r8, %r8, %r12;
  add.u32 %r5, %r5, %r7;
  bra NEXT;
DONE:
  setp.eq.u32 %p2, %r8, 0;
  @%p2 bra END;
  st.global.u32 [%rd1], %r8;
END:
  ret;
}
"""


class CacheFlush:
    """Needs a current context. ``run`` returns before the device is done."""

    def __init__(self, device: cuda.Device) -> None:
        names = cuda.device_attribute
        self._bytes = max(_TIMES_L2 * device.get_attribute(names.L2_CACHE_SIZE), _MIN_BYTES)
        self._blocks = 2 * device.get_attribute(names.MULTIPROCESSOR_COUNT)
        self._buffer = cuda.mem_alloc(self._bytes)
        cuda.memset_d8(self._buffer, 0, self._bytes)
        self._module = cuda.module_from_buffer(_PTX)
        self._sweep = self._module.get_function("sweep")
        self._sweep.prepare("PI")
        self.run()

    def run(self) -> None:
        for _ in range(_LAUNCHES):
            self._sweep.prepared_call((self._blocks, 1), (_THREADS, 1, 1), self._buffer, self._bytes // 16)
