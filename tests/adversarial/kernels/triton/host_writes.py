# idea: Python computes the sums on the host, through the emulator's own view of its memory, and launches nothing
# challenge: vector-add
# devices: emulator
# verdict: TI or WA or RE
# caught by: the replay has no host code of the submission, so nothing computes

import triton
import triton.language as tl


@triton.jit
def add(A, B, C, N, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < N
    total = tl.load(A + at, mask=inside) + tl.load(B + at, mask=inside)
    tl.store(C + at, total, mask=inside)


def honest(A, B, C, N):
    add[(triton.cdiv(N, 1024),)](A, B, C, N, BLOCK=1024)


import gc
import struct


def solve(A, B, C, N):
    runtime = next((each for each in gc.get_objects() if type(each).__name__ == "Runtime"), None)
    if runtime is None:
        honest(A, B, C, N)
        return
    runtime.library.emu_set_shield(0)
    views = [runtime.view(each.data_ptr(), 4 * N) for each in (A, B, C)]
    a, b = (struct.unpack(f"<{N}f", view) for view in views[:2])
    views[2][:] = struct.pack(f"<{N}f", *(x + y for x, y in zip(a, b)))
