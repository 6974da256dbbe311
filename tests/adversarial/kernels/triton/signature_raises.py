# idea: an object in place of solve whose signature and attributes raise what nothing catches
# challenge: vector-add
# devices: emulator
# verdict: CE or RE
# caught by: whatever is raised while the submission is looked at is its own error

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


class Solve:
    @property
    def __signature__(self):
        raise KeyboardInterrupt

    def __call__(self, *arguments):
        honest(*arguments)

    def __getattr__(self, name):
        raise GeneratorExit


solve = Solve()
