// What memory gives: every kernel goes through all of a buffer that is many times the size of the caches.

// Fills a buffer with words of which none is like another, so that nothing is saved by compressing it.
extern "C" __global__ void scramble(unsigned *words, unsigned long long count, unsigned seed)
{
    unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        unsigned x = (unsigned)i * 2654435761u ^ (unsigned)(i >> 32) ^ seed;
        x = (x ^ x >> 16) * 0x7feb352du;
        x = (x ^ x >> 15) * 0x846ca68bu;
        words[i] = x ^ x >> 16;
    }
}

// The exclusive or of all words goes to *result, by one atomic a warp. `pieces` is a multiple of four times the threads
// that are launched: four loads of 16 bytes are on their way at once.
extern "C" __global__ void read_all(const uint4 *data, unsigned long long pieces, unsigned *result)
{
    unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
    unsigned seen = 0;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < pieces; i += 4 * step) {
        uint4 a = __ldcs(data + i), b = __ldcs(data + i + step);
        uint4 c = __ldcs(data + i + 2 * step), d = __ldcs(data + i + 3 * step);
        seen ^= a.x ^ a.y ^ a.z ^ a.w ^ b.x ^ b.y ^ b.z ^ b.w;
        seen ^= c.x ^ c.y ^ c.z ^ c.w ^ d.x ^ d.y ^ d.z ^ d.w;
    }
    for (int lanes = 16; lanes; lanes /= 2)
        seen ^= __shfl_xor_sync(0xffffffffu, seen, lanes);
    if (threadIdx.x % 32 == 0)
        atomicXor(result, seen);
}

extern "C" __global__ void copy_all(const uint4 *from, uint4 *to, unsigned long long pieces)
{
    unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < pieces; i += 4 * step) {
        uint4 a = __ldcs(from + i), b = __ldcs(from + i + step);
        uint4 c = __ldcs(from + i + 2 * step), d = __ldcs(from + i + 3 * step);
        __stcs(to + i, a);
        __stcs(to + i + step, b);
        __stcs(to + i + 2 * step, c);
        __stcs(to + i + 3 * step, d);
    }
}
