# A program a group of an image, which is contiguous: it goes over it for the mean, for the variance and for the result.

import triton
import triton.language as tl


@triton.jit
def normalize(x, gamma, beta, y, C, G, PIXELS, eps, BLOCK: tl.constexpr):
    image = tl.program_id(0) // G
    channels = C // G
    first_channel = tl.program_id(0) % G * channels
    length = channels * PIXELS
    first = (image.to(tl.int64) * C + first_channel) * PIXELS
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, length, BLOCK):
        at = start + tl.arange(0, BLOCK)
        sums += tl.load(x + first + at, mask=at < length, other=0.0)
    mean = tl.sum(sums, 0) / length
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, length, BLOCK):
        at = start + tl.arange(0, BLOCK)
        away = tl.where(at < length, tl.load(x + first + at, mask=at < length, other=0.0) - mean, 0.0)
        squares += away * away
    root = 1.0 / tl.sqrt(tl.sum(squares, 0) / length + eps)
    for start in range(0, length, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < length
        channel = first_channel + at // PIXELS
        scale = tl.load(gamma + channel, mask=inside)
        shift = tl.load(beta + channel, mask=inside)
        value = tl.load(x + first + at, mask=inside)
        tl.store(y + first + at, (value - mean) * root * scale + shift, mask=inside)


def solve(X, gamma, beta, Y, N, C, H, W, G, eps):
    normalize[(N * G,)](X, gamma, beta, Y, C, G, H * W, eps, BLOCK=1024)
