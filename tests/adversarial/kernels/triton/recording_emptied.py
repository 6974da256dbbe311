# idea: the recording that is replayed is replaced by one of an earlier, empty call
# challenge: vector-add
# devices: emulator
# verdict: TI or AC or RE or SV
# caught by: the replayed launches must give the right answer to inputs that the recorder never saw

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


import sys


def solve(A, B, C, N):
    honest(A, B, C, N)
    module = sys.modules.get("judge.runner.emulator")
    if module is not None:
        real = module.EmulatorDevice.take_recording
        module.EmulatorDevice.take_recording = lambda self: real(self)[:64]
