// What judge/runner/cuda/device.py does on the GPU around a timed call, and judge/bench/oracle to check it. Compiled by
// nvcc for the GPU at hand.
//
// Buffers begin at multiples of 256 bytes. `found` is a word of flags for each buffer: 1 and 2, the band before or
// behind it was written; 4, it no longer holds what its recipe makes.

#include <cstring>

#include "inputs.cuh"
#include "philox.cuh"
#include "sha256.cuh"

constexpr int HOLD_THREADS = 256;

// For each kind of recipe, with `beside` its part of the pool, or the masked copy:
// make: fills `bytes` at `data`.
// compare: whether they are what make made.
#define FOR_STREAM(kind)                                                                                             \
    extern "C" __global__ void make_##kind(void* data, u64 bytes, Recipe recipe, const void* beside, u32*) {         \
        kind<Sweep<false>>(data, bytes, recipe, beside);                                                             \
    }                                                                                                                \
    extern "C" __global__ void compare_##kind(void* data, u64 bytes, Recipe recipe, const void* beside, u32* found) { \
        if (!kind<Sweep<true>>(data, bytes, recipe, beside)) atomicOr(found, 4u);                                    \
    }
// plant: after make, sentinels and changes. One block.
// unplant: before compare, looks at sentinels and changes, and takes them away. One block.
#define FOR_PLANTED(kind)                                                                                            \
    extern "C" __global__ void plant_##kind(void* data, u64 bytes, Recipe recipe, const void* beside, u32*) {        \
        for (u32 j = threadIdx.x; j < recipe.sentinels + recipe.changes; j += blockDim.x) {                          \
            Planted one;                                                                                             \
            one.beside = beside;                                                                                     \
            if (planted(j, bytes, recipe, one)) kind<Plant<false>>(data, bytes, recipe, one);                        \
        }                                                                                                            \
    }                                                                                                                \
    extern "C" __global__ void unplant_##kind(void* data, u64 bytes, Recipe recipe, const void* beside, u32* found) { \
        for (u32 j = threadIdx.x; j < recipe.sentinels + recipe.changes; j += blockDim.x) {                          \
            Planted one;                                                                                             \
            one.beside = beside;                                                                                     \
            if (!planted(j, bytes, recipe, one)) continue;                                                           \
            if (!kind<Plant<true>>(data, bytes, recipe, one)) atomicOr(found, 4u);                                   \
        }                                                                                                            \
    }

FOR_STREAM(constant)
FOR_STREAM(uniform)
FOR_STREAM(normal)
FOR_STREAM(integers)
FOR_STREAM(masked)
FOR_STREAM(general)
FOR_PLANTED(constant)
FOR_PLANTED(uniform)
FOR_PLANTED(normal)
FOR_PLANTED(integers)
FOR_PLANTED(general)

// The pool itself: the words of its stream. `bytes` is a multiple of a block's.
extern "C" __global__ void make_pool(void* data, u64 bytes, Key key) {
    const u64 stride = static_cast<u64>(gridDim.x) * blockDim.x;
    for (u64 i = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; i < bytes / sizeof(Block); i += stride) {
        static_cast<Block*>(data)[i] = philox(i, key);
    }
}

// The band of `guard` bytes before `data` (block 0), and that behind it, which begins with what pads it to 256 (block 1).
__device__ void guard_band(unsigned char* data, u64 size, u32 guard, unsigned char*& begin, u64& odd) {
    begin = blockIdx.x == 0 ? data - guard : data + size;
    odd = blockIdx.x == 0 ? 0 : (256 - size % 256) % 256;
}

// Four bytes of a guard band, at an address that is a multiple of 4. They follow from the address and the key, so no part
// of a band is like another one's. Whatever type they are read as, they make a large finite number of either sign: zero
// times it is zero, and it shows in sums, maxima and minima.
__device__ u32 guard_word(const void* at, u64 key) {
    u64 x = (reinterpret_cast<u64>(at) ^ key) * 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93ull;
    return static_cast<u32>(x >> 32) & 0x8B8B8B8Bu | 0x70707070u;
}

__device__ unsigned char guard_byte(const unsigned char* at, u64 key) {
    const u64 within = reinterpret_cast<u64>(at) % 4;
    return static_cast<unsigned char>(guard_word(at - within, key) >> (8 * within));
}

// Two blocks.
extern "C" __global__ void write_guards(unsigned char* data, u64 size, u32 guard, u64 key) {
    unsigned char* begin;
    u64 odd;
    guard_band(data, size, guard, begin, odd);
    for (u64 i = threadIdx.x; i < odd; i += blockDim.x) begin[i] = guard_byte(begin + i, key);
    u32* band = reinterpret_cast<u32*>(begin + odd);
    for (u32 i = threadIdx.x; i < guard / 4; i += blockDim.x) band[i] = guard_word(band + i, key);
}

// Two blocks. The key is that of `write_guards`.
extern "C" __global__ void check_guards(unsigned char* data, u64 size, u32 guard, u64 key, u32* found) {
    unsigned char* begin;
    u64 odd;
    guard_band(data, size, guard, begin, odd);
    bool whole = true;
    for (u64 i = threadIdx.x; i < odd; i += blockDim.x) whole &= begin[i] == guard_byte(begin + i, key);
    const u32* band = reinterpret_cast<const u32*>(begin + odd);
    for (u32 i = threadIdx.x; i < guard / 4; i += blockDim.x) whole &= band[i] == guard_word(band + i, key);
    if (!whole) atomicOr(found, blockIdx.x == 0 ? 1u : 2u);
}

// A level of judge/wire/digest.py's tree: the digest of each piece, side by side.
extern "C" __global__ void __launch_bounds__(64) digest_pieces(const unsigned char* data, u64 size, u32* digests) {
    const u64 piece = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (piece && piece * PIECE_BYTES >= size) return;
    const u64 left = size - piece * PIECE_BYTES;
    sha256(data + piece * PIECE_BYTES, left < PIECE_BYTES ? static_cast<u32>(left) : PIECE_BYTES, digests + 8 * piece);
}

__device__ u64 now() {
    u64 nanoseconds;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    return nanoseconds;
}

// Reads a buffer of zeros, over and over, until shortly before `end`, and waits for that. All threads of the grid share
// it. What copy engines bring to the L2 meanwhile is driven out; what is on its way must have come before `end`.
__device__ void sweep_until(u64 end, uint4* buffer, u64 pieces) {
    constexpr u64 QUIET_NANOSECONDS = 4000;
    const u64 stride = static_cast<u64>(gridDim.x) * blockDim.x;
    u64 i = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
    u32 seen = 0;
    while (now() + QUIET_NANOSECONDS < end) {
        if (i >= pieces) i %= pieces;
        const uint4 four = __ldcg(buffer + i);
        seen |= four.x | four.y | four.z | four.w;
        i += stride;
    }
    if (seen) buffer->x = seen;
    while (now() < end) {}
}

// Keeps the device for so long. Started with as many threads as it has room for, so that nothing else runs meanwhile.
extern "C" __global__ void __launch_bounds__(HOLD_THREADS, 2048 / HOLD_THREADS)
    hold(u64 nanoseconds, uint4* buffer, u64 pieces) {
    sweep_until(now() + nanoseconds, buffer, pieces);
}

// One block, that lasts so long and tells until when.
extern "C" __global__ void __launch_bounds__(HOLD_THREADS) wait(u64 nanoseconds, volatile u64* until) {
    const u64 end = now() + nanoseconds;
    if (threadIdx.x == 0) *until = end;
    while (now() < end) {}
}

// Beside it, with as many threads as the device has room for: nothing else runs until so long after its end. And if nobody
// tells when that is, not for ever.
extern "C" __global__ void __launch_bounds__(HOLD_THREADS, 2048 / HOLD_THREADS)
    hold_longer(u64 nanoseconds, u64 at_most, const volatile u64* until, uint4* buffer, u64 pieces) {
    const u64 begun = now();
    u64 end;
    do {
        end = *until;
    } while (!end && now() - begun < at_most);
    sweep_until(end + nanoseconds, buffer, pieces);
}

// Reads all of a buffer of zeros, and would write if it held anything else: so nothing of it is left out.
extern "C" __global__ void sweep(uint4* buffer, u64 pieces) {
    u32 seen = 0;
    const u64 stride = static_cast<u64>(gridDim.x) * blockDim.x;
    for (u64 i = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; i < pieces; i += stride) {
        const uint4 four = buffer[i];
        seen |= four.x | four.y | four.z | four.w;
    }
    if (seen) buffer->x = seen;
}
