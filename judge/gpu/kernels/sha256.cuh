// SHA-256 (FIPS 180-4) of pieces of memory, a thread for each: 1024 bytes are 16 blocks and one of padding.
#pragma once

#include "philox.cuh"

constexpr u32 PIECE_BYTES = 1024;

__constant__ const u32 ROUNDS[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__device__ inline u32 rotate(u32 x, int right) { return __funnelshift_r(x, x, right); }
__device__ inline u32 big_endian(u32 x) { return __byte_perm(x, 0, 0x0123); }

__device__ inline void compress(u32 (&state)[8], u32 (&w)[16]) {
    u32 a = state[0], b = state[1], c = state[2], d = state[3];
    u32 e = state[4], f = state[5], g = state[6], h = state[7];
#pragma unroll
    for (int t = 0; t < 64; t++) {
        if (t >= 16) {
            const u32 near = w[(t + 14) % 16], far = w[(t + 1) % 16];
            w[t % 16] += w[(t + 9) % 16] + (rotate(near, 17) ^ rotate(near, 19) ^ near >> 10) +
                         (rotate(far, 7) ^ rotate(far, 18) ^ far >> 3);
        }
        const u32 one = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[t] + w[t % 16];
        const u32 two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

// The word at `at` (a multiple of 4) of a message of `size` bytes behind which the padding begins: 0x80, then zeros.
__device__ inline u32 padded_word(const unsigned char* message, u32 size, u32 at) {
    u32 word = 0;
    for (u32 i = 0; i < 4; i++) {
        const u32 byte = at + i < size ? message[at + i] : at + i == size ? 0x80 : 0;
        word |= byte << (24 - 8 * i);
    }
    return word;
}

// `message` at a multiple of 16, `size` at most PIECE_BYTES; `out` at a multiple of 4, 32 bytes.
__device__ inline void sha256(const unsigned char* message, u32 size, u32* out) {
    u32 state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    // The end of the message, 0x80 and its length in 8 bytes have to fit.
    const u32 blocks = (size + 9 + 63) / 64;
#pragma unroll 1
    for (u32 block = 0; block < blocks; block++) {
        u32 w[16];
        if (block * 64 + 64 <= size) {
            const uint4* source = reinterpret_cast<const uint4*>(message + block * 64);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const uint4 four = source[i];
                w[4 * i] = big_endian(four.x), w[4 * i + 1] = big_endian(four.y);
                w[4 * i + 2] = big_endian(four.z), w[4 * i + 3] = big_endian(four.w);
            }
        } else {
#pragma unroll
            for (int i = 0; i < 16; i++) w[i] = padded_word(message, size, block * 64 + 4 * i);
            if (block + 1 == blocks) w[15] = size * 8;
        }
        compress(state, w);
    }
#pragma unroll
    for (int i = 0; i < 8; i++) out[i] = big_endian(state[i]);
}
