# idea: the arguments' objects are changed: their extents and addresses lie for later calls
# challenge: vector-add
# devices: emulator
# verdict: AC or WA or TI or RE
# caught by: each call gets new objects, and memory is what counts

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


from torch import Tensor


def solve(A, B, C, N):
    honest(A, B, C, N)
    Tensor.data_ptr = lambda self: self._address
    Tensor.numel = lambda self: 1
    A.shape, B.shape, C.shape = (1,), (1,), (1,)
