# Each program adds up 128 samples and adds its share to the result, which is zero on entry.

import triton
import triton.language as tl


@triton.jit
def add_up(samples, result, n, scale, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    part = tl.sum(tl.load(samples + at, mask=at < n, other=0.0), 0)
    tl.atomic_add(result, part * scale)


def solve(y_samples, result, a, b, n_samples):
    programs = triton.cdiv(n_samples, 128)
    add_up[(programs,)](y_samples, result, n_samples, (b - a) / n_samples, BLOCK=128)
