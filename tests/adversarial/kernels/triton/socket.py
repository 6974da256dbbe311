# idea: it opens a connection to the world
# challenge: vector-add
# devices: emulator
# verdict: SV or RE
# caught by: the jail has no network, and sockets are filtered

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


import socket


def solve(A, B, C, N):
    honest(A, B, C, N)
    socket.create_connection(("127.0.0.1", 80))
